-- lr.answer_travel_times(): answer the requests for how long a journey takes, and what it costs.
--
-- Spec    rule 12, travel time, due 30 s after the request: walk from segment to segment, each at the minute of the
--         week at which it would be reached, by the history's averages; -1 and -1 where there are none, or all stand.
-- Reads   request, lr_history.segment_average
-- Writes  travel_time
-- Called  by lr.poll, once for all seconds of the cycle.
CREATE OR REPLACE PROCEDURE lr.answer_travel_times()
LANGUAGE sql
AS $$
    INSERT INTO lr.travel_time (request_second, query_id, travel_s, toll)
    WITH RECURSIVE journey AS (
        SELECT
            row_number() OVER () AS journey_id,
            request_second,
            query_id,
            xway,
            from_seg,
            to_seg,
            abs(to_seg - from_seg) AS segments,
            sign(to_seg - from_seg)::smallint AS step,
            (CASE WHEN from_seg < to_seg THEN 0 ELSE 1 END)::smallint AS dir,
            day_of_week,
            minute_of_day
        FROM lr.request
        WHERE kind = 4
    ),

    walk AS (
        SELECT journey_id, 0 AS driven, lr.exact(0) AS travel_minutes, lr.exact(0) AS toll
        FROM journey
        UNION ALL
        SELECT
            walk.journey_id,
            walk.driven + 1,
            walk.travel_minutes + lr.exact(60 * average.days) / nullif(average.lav_sum, 0),
            walk.toll + lr.toll_for(
                lr.exact(average.cars_sum) / average.days, lr.exact(average.lav_sum) / average.days, FALSE
            )
        FROM walk
        INNER JOIN journey ON journey.journey_id = walk.journey_id AND walk.driven < journey.segments
        CROSS JOIN LATERAL (
            SELECT (journey.minute_of_day - 1 + lr.floor_of(walk.travel_minutes))::integer AS elapsed
        ) AS day_start
        INNER JOIN lr_history.segment_average AS average
            ON average.xway = journey.xway
            AND average.dir = journey.dir
            AND average.seg = (journey.from_seg + journey.step * walk.driven)::smallint
            AND average.day_of_week = ((journey.day_of_week - 1 + day_start.elapsed / 1440) % 7 + 1)::smallint
            AND average.minute = (day_start.elapsed % 1440 + 1)::smallint
        WHERE walk.travel_minutes IS NOT NULL
    )

    SELECT
        journey.request_second,
        journey.query_id,
        coalesce(lr.floor_of(walk.travel_minutes * 60 + 0.5), -1),
        CASE WHEN walk.travel_minutes IS NULL THEN -1 ELSE lr.floor_of(walk.toll + 0.5) END
    FROM journey
    LEFT JOIN walk ON walk.journey_id = journey.journey_id AND walk.driven = journey.segments
$$;
