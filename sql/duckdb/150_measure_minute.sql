-- The statistics of a minute that is over, beside those of the four minutes before.
--
-- Spec    rule 2 and the averages of rule 3.
-- Reads   segment_tally
-- Writes  segment_minute; clears segment_tally
CREATE OR REPLACE TABLE lr.segment_minute AS
SELECT minute, segment_id, cars, average_mph
FROM lr.segment_minute
WHERE minute > lr.minute() - lr.lav_minutes()
UNION ALL
SELECT
    lr.minute(),
    segment_id,
    sum(cars)::bigint,
    (sum(speed_sum)::hugeint * lr.unit() + sum(speed_units)::hugeint) // (2 * sum(cars)::bigint)
FROM lr.segment_tally
GROUP BY segment_id;

CREATE OR REPLACE TABLE lr.segment_tally AS
SELECT segment_id, cars, speed_sum, speed_units
FROM lr.segment_tally
LIMIT 0;
