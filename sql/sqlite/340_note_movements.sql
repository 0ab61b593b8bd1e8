-- Set aside the few reports of a second that mean something beyond the statistics.
--
-- Reads   the ring's table of this second
-- Writes  movement; what follows in the cycle reads it and not the ring
INSERT INTO lr.movement (
    second, vehicle_id, segment_id, position_ft, lane, lav, stop_reports, started, ended, crossed, toll, paid
)
SELECT
    :second,
    vehicle_id,
    segment_id,
    position_ft,
    lane,
    lav,
    stop_reports,
    started,
    ended,
    crossed,
    toll,
    paid
FROM lr.ring_now
WHERE started OR ended OR crossed OR stop_reports = :stop_reports;
