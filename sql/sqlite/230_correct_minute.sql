-- Count irregular vehicles once, at the average of all their reports from a segment.
--
-- Spec    rule 2, for vehicles that reported from a segment twice in a minute and not 30 s apart.
-- Reads   sighting
-- Writes  irregular_tally, the difference to what was counted
INSERT INTO lr.irregular_tally (segment_id, cars, speed_sum)
SELECT
    segment_id,
    1 - sum(counted),
    quotient(2 * sum(speed_mph) - count(*) * sum(tally), count(*))
FROM lr.sighting
WHERE NOT ended AND second >= (:minute - 1) * :minute_s
GROUP BY vehicle_id, segment_id;
