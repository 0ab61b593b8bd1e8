-- Count the cars of a cycle and add up their speeds, per segment.
--
-- Spec    rule 2; a vehicle's second report from a segment in a minute counts no car and makes its speed an average.
-- Reads   the ring's table of this cycle
-- Writes  segment_tally
INSERT INTO lr.segment_tally (segment_id, cars, speed_sum, speed_units)
SELECT segment_id, count(*) FILTER (WHERE counted), sum(tally), 0
FROM lr.ring_now
WHERE NOT ended
GROUP BY segment_id;
