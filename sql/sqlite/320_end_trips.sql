-- Note the trips that no report of this second continues.
--
-- Spec    rule 1.
-- Reads   the ring's table of 30 s before
-- Writes  the ring's table of this second, which has the reports already
INSERT INTO lr.ring_now (
    vehicle_id, segment_id, position_ft, lane, speed_mph, tally, lav, stop_reports,
    counted, started, ended, crossed, toll, paid
)
SELECT
    vehicle_id,
    segment_id,
    position_ft,
    lane,
    speed_mph,
    0,
    :no_lav,
    1,
    FALSE,
    FALSE,
    TRUE,
    FALSE,
    0,
    paid
FROM lr.ring_previous
WHERE NOT ended AND vehicle_id NOT IN (SELECT report.vehicle_id FROM lr.ring_now AS report);
