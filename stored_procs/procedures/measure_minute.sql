-- lr.measure_minute(minute): the statistics of a minute that is over.
--
-- Spec    rule 2 and the averages of rule 3.
-- Reads   segment_tally
-- Writes  segment_minute; clears segment_tally
-- Called  by lr.close_minute.
CREATE OR REPLACE PROCEDURE lr.measure_minute(p_minute integer)
LANGUAGE sql
AS $$
    INSERT INTO lr.segment_minute (minute, segment_id, cars, average_mph)
    SELECT p_minute, segment_id, sum(cars), lr.exact(sum(speed_sum)) / (2 * sum(cars))
    FROM lr.segment_tally
    GROUP BY segment_id;

    TRUNCATE lr.segment_tally;
$$;
