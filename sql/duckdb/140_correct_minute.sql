-- Count irregular vehicles once, at the average of all their reports from a segment.
--
-- Spec    rule 2, for vehicles that reported from a segment twice in a minute and not 30 s apart.
-- Reads   sighting
-- Writes  segment_tally, the difference to what was counted
INSERT INTO lr.segment_tally (segment_id, cars, speed_sum, speed_units)
SELECT
    segment_id,
    1 - count(*) FILTER (WHERE counted),
    -sum(tally),
    2 * sum(speed_mph) * lr.unit() // count(*)
FROM lr.sighting
GROUP BY vehicle_id, segment_id;
