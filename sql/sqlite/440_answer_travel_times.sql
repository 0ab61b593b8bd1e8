-- Answer the requests for how long a journey takes, and what it costs.
--
-- Spec    rule 12, travel time, due 30 s after the request: walk from segment to segment, each at the minute of the
--         week at which it would be reached, by the history's averages; -1 and -1 where there are none, or all stand.
-- Reads   request, lr_history.segment_average
WITH RECURSIVE walk (request_id, segment_id, step, segments_left, minute_of_week, travel_s, toll) AS (
    SELECT
        request_id,
        (xway * 2 + CASE WHEN from_seg < to_seg THEN :east ELSE :west END) * :segments + from_seg,
        CASE WHEN from_seg < to_seg THEN 1 ELSE -1 END,
        abs(to_seg - from_seg),
        (day_of_week - 1) * :day_minutes + minute_of_day - 1,
        0,
        0
    FROM lr.request
    WHERE kind = :travel_time
    UNION ALL
    SELECT
        walk.request_id,
        walk.segment_id + walk.step,
        walk.step,
        walk.segments_left - 1,
        walk.minute_of_week,
        plus(walk.travel_s, quotient(:hour_minutes * :minute_s * average.days, average.lav_sum)),
        plus(walk.toll, toll_for(average.cars_sum, average.lav_sum, average.days))
    FROM walk
    INNER JOIN lr_history.segment_average AS average
        ON
            walk.segment_id = average.segment_id
            AND average.minute_of_week
            = (walk.minute_of_week + floor_of(walk.travel_s) / :minute_s) % (:week_days * :day_minutes)
    WHERE walk.segments_left > 0 AND average.lav_sum > 0
)

SELECT
    request.second,
    request.query_id,
    coalesce(rounded(walk.travel_s), :no_travel_time),
    coalesce(rounded(walk.toll), :no_travel_time)
FROM lr.request
LEFT JOIN walk ON request.request_id = walk.request_id AND walk.segments_left = 0
WHERE request.kind = :travel_time;
