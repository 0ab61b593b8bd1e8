-- What a segment costs in the minute that begins, if there is no accident ahead.
--
-- Spec    rules 3 and 4: LAV over the five minutes before, cars of the minute before.
-- Reads   segment_minute
-- Writes  segment_toll, anew
DELETE FROM lr.segment_toll;

INSERT INTO lr.segment_toll (segment_id, lav, toll)
SELECT
    segment_id,
    lav,
    toll_for(cars, lav, 1)
FROM (
    SELECT
        segment_id,
        floor_of(exact_mean(average_mph)) AS lav,
        sum(CASE WHEN minute = :minute THEN cars ELSE 0 END) AS cars
    FROM lr.segment_minute
    WHERE minute > :minute - :lav_minutes
    GROUP BY segment_id
) AS traffic;
