-- The statistics of a minute that is over.
--
-- Spec    rule 2 and the averages of rule 3.
-- Reads   segment_tally, irregular_tally
-- Writes  segment_minute; clears what it reads
INSERT INTO lr.segment_minute (minute, segment_id, cars, average_mph)
SELECT
    :minute,
    segment_id,
    sum(cars),
    quotient(exact_sum(speed_sum), 2 * sum(cars))
FROM (
    SELECT
        segment_id,
        cars,
        speed_sum
    FROM lr.segment_tally
    UNION ALL
    SELECT
        segment_id,
        cars,
        speed_sum
    FROM lr.irregular_tally
) AS tally
GROUP BY segment_id;

DELETE FROM lr.segment_tally;

DELETE FROM lr.irregular_tally;
