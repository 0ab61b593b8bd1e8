-- lr.journey(xway, from_seg, to_seg, day_of_week, minute_of_day): how long a journey takes, and what it costs.
--
-- Spec    rule 12: walk from segment to segment, each at the minute of the week at which it would be reached, by the
--         history's averages; -1 and -1 where there are none, or all stand.
-- Reads   lr_history.segment_average
-- Called  by lr.answer_travel_times, lr.take_request.
CREATE OR REPLACE FUNCTION lr.journey(
    p_xway smallint, p_from_seg smallint, p_to_seg smallint, p_day_of_week smallint, p_minute_of_day smallint
)
RETURNS TABLE (travel_s bigint, toll bigint)
LANGUAGE sql STABLE
AS $$
    WITH RECURSIVE walk AS (
        SELECT 0 AS driven, lr.exact(0) AS travel_minutes, lr.exact(0) AS toll
        UNION ALL
        SELECT
            walk.driven + 1,
            walk.travel_minutes + lr.exact(lr.hour_minutes() * average.days) / nullif(average.lav_sum, 0),
            walk.toll + lr.toll_for(
                lr.exact(average.cars_sum) / average.days, lr.exact(average.lav_sum) / average.days, FALSE
            )
        FROM walk
        CROSS JOIN LATERAL (
            SELECT (p_minute_of_day - 1 + lr.floor_of(walk.travel_minutes))::integer AS elapsed
        ) AS day_start
        INNER JOIN lr_history.segment_average AS average
            ON average.xway = p_xway
            AND average.dir = (CASE WHEN p_from_seg < p_to_seg THEN lr.east() ELSE lr.west() END)::smallint
            AND average.seg = (p_from_seg + sign(p_to_seg - p_from_seg)::smallint * walk.driven)::smallint
            AND average.day_of_week = ((p_day_of_week - 1 + day_start.elapsed / lr.day_minutes()) % lr.week_days() + 1)::smallint
            AND average.minute = (day_start.elapsed % lr.day_minutes() + 1)::smallint
        WHERE walk.travel_minutes IS NOT NULL AND walk.driven < abs(p_to_seg - p_from_seg)
    )

    SELECT
        coalesce(max(lr.floor_of(walk.travel_minutes * lr.minute_s() + 0.5)), lr.no_travel_time())::bigint,
        coalesce(max(CASE WHEN walk.travel_minutes IS NOT NULL THEN lr.floor_of(walk.toll + 0.5) END), lr.no_travel_time())::bigint
    FROM walk
    WHERE walk.driven = abs(p_to_seg - p_from_seg)
$$;
