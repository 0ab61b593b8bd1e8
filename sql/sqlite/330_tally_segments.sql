-- Count the cars of one second and add up their speeds, per segment.
--
-- Spec    rule 2; a vehicle's second report from a segment in a minute counts no car and makes its speed an average.
-- Reads   the ring's table of this second
-- Writes  segment_tally
INSERT INTO lr.segment_tally (segment_id, cars, speed_sum)
SELECT
    segment_id,
    sum(counted),
    sum(tally)
FROM lr.ring_now
WHERE NOT ended
GROUP BY segment_id
ON CONFLICT (segment_id) DO UPDATE SET cars = cars + excluded.cars, speed_sum = speed_sum + excluded.speed_sum;
