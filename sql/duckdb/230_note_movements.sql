-- Set aside the few reports of a cycle that mean something beyond the statistics and the answers.
--
-- Spec    rules 1 and 10: trips begin, and end with what was paid on them; rule 6: a car counts as stopped from its
--         fourth report from one place.
-- Reads   the ring's table of this cycle
-- Writes  movement
INSERT INTO lr.movement (second, vehicle_id, segment_id, position_ft, lane, started, ended, stopped, paid)
SELECT
    second,
    vehicle_id,
    segment_id,
    position_ft,
    lane,
    started,
    ended,
    stop_reports = lr.stop_reports() AND NOT ended AND lane IN lr.travel_lanes(),
    paid
FROM lr.ring_now
WHERE started OR (ended AND paid > 0) OR (stop_reports = lr.stop_reports() AND NOT ended AND lane IN lr.travel_lanes());
