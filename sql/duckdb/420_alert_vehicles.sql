-- Warn each vehicle that entered a segment with an accident ahead.
--
-- Spec    rule 8: accident alert, due 5 s after the report.
-- Reads   the ring's table of this cycle
SELECT second, vehicle_id, accident_seg AS seg
FROM lr.ring_now
WHERE crossed AND accident_seg IS NOT NULL;
