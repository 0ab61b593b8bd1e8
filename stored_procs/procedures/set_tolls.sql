-- lr.set_tolls(minute): what a segment costs in a minute, and where the nearest accident ahead is.
--
-- Spec    rules 3, 4 and 7: LAV over the five minutes before, cars and accidents of the minute before.
-- Reads   segment_minute, accident
-- Writes  segment_toll, anew
-- Called  by lr.close_minute.
CREATE OR REPLACE PROCEDURE lr.set_tolls(p_minute integer)
LANGUAGE sql
AS $$
    TRUNCATE lr.segment_toll;

    INSERT INTO lr.segment_toll (segment_id, lav, toll, accident_seg)
    SELECT
        segment_id,
        coalesce(traffic.lav, lr.no_lav()),
        lr.toll_for(coalesce(traffic.cars, 0), coalesce(traffic.lav, lr.no_lav()), warning.accident_seg IS NOT NULL),
        warning.accident_seg
    FROM (
        SELECT
            segment_id,
            lr.floor_of(avg(average_mph)) AS lav,
            max(cars) FILTER (WHERE minute = p_minute - 1) AS cars
        FROM lr.segment_minute
        WHERE minute BETWEEN p_minute - lr.lav_minutes() AND p_minute - 1
        GROUP BY segment_id
    ) AS traffic
    FULL JOIN lr.warnings(p_minute - 1) AS warning USING (segment_id);
$$;
