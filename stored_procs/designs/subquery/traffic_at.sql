-- lr.traffic_at(segment_id, minute): what is told to those who enter a segment in a minute.
--
-- Spec    rules 3, 4 and 7: LAV over the five minutes before, cars and accidents of the minute before.
-- Reads   segment_minute, by two subqueries, each of which reads all of it; accident
-- Called  by lr.arrivals; a plan has the subqueries themselves, and runs those whose value is used.
CREATE OR REPLACE FUNCTION lr.traffic_at(p_segment_id integer, p_minute integer)
RETURNS TABLE (lav numeric, toll numeric, accident_seg smallint)
LANGUAGE sql STABLE
AS $$
    SELECT
        statistics.lav,
        lr.toll_for(statistics.cars, statistics.lav, statistics.accident_seg IS NOT NULL),
        statistics.accident_seg
    FROM (
        SELECT
            coalesce(
                (
                    SELECT lr.floor_of(avg(average_mph))
                    FROM lr.segment_minute
                    WHERE segment_id = p_segment_id
                        AND minute BETWEEN p_minute - lr.lav_minutes() AND p_minute - 1
                ),
                lr.no_lav()
            ) AS lav,
            coalesce(
                (SELECT cars FROM lr.segment_minute WHERE segment_id = p_segment_id AND minute = p_minute - 1), 0
            ) AS cars,
            (
                SELECT warning.accident_seg FROM lr.warnings(p_minute - 1) AS warning WHERE warning.segment_id = p_segment_id
            ) AS accident_seg
    ) AS statistics
$$;
