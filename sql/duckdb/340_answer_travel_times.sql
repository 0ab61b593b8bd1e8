-- Answer the requests for how long a journey takes, and what it costs: walk from segment to segment, each at the minute
-- of the week at which it would be reached, by the history's averages.
--
-- Spec    rule 12, travel time, due 30 s after the request: east if Sinit < Send, else west; segment Send itself is not
--         driven; -1 and -1 if the history does not tell.
-- Reads   request (this cycle's input), lr_history.segment_hour
-- Gives   the answers; `preliminary` where a segment takes so long that lr.pace() minutes for each are not enough
--
-- travel_minutes is a number of lr.unit(), toll one of 1 / lr.toll_unit()^2.
WITH RECURSIVE asked AS (
    SELECT
        second,
        query_id,
        lr.segment_id(xway, if(from_seg < to_seg, lr.east(), lr.west()), from_seg) AS segment_id,
        (to_seg - from_seg)::integer AS distance,
        (day_of_week - 1)::integer * lr.day_minutes() + minute_of_day - 1 AS minute_of_week
    FROM request
    WHERE kind = lr.travel_time()
),

-- Each journey once: copies of an expressway ask for those of the original.
journey AS MATERIALIZED (
    SELECT DISTINCT segment_id, distance, minute_of_week
    FROM asked
),

-- The hours in which a segment may be reached.
block AS (
    SELECT lr.block_id(segment_id, minute_of_week + hours * lr.hour_minutes()) AS block_id
    FROM (
        SELECT
            segment_id + sign(distance) * driven AS segment_id,
            minute_of_week,
            unnest(range(least(lr.last_hour(minute_of_week, driven, lr.pace()) + 1, lr.week_hours()))) AS hours
        FROM (SELECT segment_id, distance, minute_of_week, unnest(range(abs(distance))) AS driven FROM journey) AS place
    ) AS reached
),

hour AS MATERIALIZED (
    SELECT block_id, cells
    FROM lr_history.segment_hour
    WHERE block_id IN (SELECT block.block_id::integer FROM block)
),

-- A row for each segment driven, and one before the first; it ends early where there is no history, all stand, or the
-- hours that were looked up are over.
walk AS (
    SELECT
        segment_id,
        distance,
        minute_of_week,
        0 AS driven,
        0::hugeint AS travel_minutes,
        0::hugeint AS toll
    FROM journey
    UNION ALL
    SELECT
        segment_id,
        distance,
        minute_of_week,
        driven + 1,
        travel_minutes + lr.hour_minutes() * lr.days_of(cell) * lr.unit() // lr.lav_sum_of(cell),
        toll + lr.journey_toll(lr.cars_sum_of(cell), lr.lav_sum_of(cell), lr.days_of(cell))
    FROM (
        SELECT
            place.segment_id,
            place.distance,
            place.minute_of_week,
            place.driven,
            place.travel_minutes,
            place.toll,
            hour.cells[place.now % lr.hour_minutes() + 1] AS cell
        FROM (
            SELECT
                segment_id,
                distance,
                minute_of_week,
                driven,
                travel_minutes,
                toll,
                minute_of_week + lr.floor_of(travel_minutes)::integer AS now
            FROM walk
            WHERE driven < abs(distance)
        ) AS place
        INNER JOIN hour
            ON hour.block_id = lr.block_id(place.segment_id + sign(place.distance) * place.driven, place.now)
    ) AS reached
    WHERE lr.lav_sum_of(cell) > 0
)

SELECT
    asked.second,
    asked.query_id,
    coalesce(
        lr.floor_of(walk.travel_minutes * lr.minute_s() + lr.unit() // 2), lr.no_travel_time()
    )::bigint AS travel_s,
    coalesce(
        (2 * walk.toll + lr.toll_unit() * lr.toll_unit()) // (2 * lr.toll_unit() * lr.toll_unit()),
        lr.no_travel_time()
    )::bigint AS toll,
    coalesce(walk.driven < abs(walk.distance), FALSE) AS preliminary
FROM asked
LEFT JOIN (
    SELECT segment_id, distance, minute_of_week, driven, travel_minutes, toll
    FROM walk
    WHERE driven = abs(distance)
        OR (minute_of_week % lr.hour_minutes() + lr.floor_of(travel_minutes)) // lr.hour_minutes()
        > lr.last_hour(minute_of_week, driven, lr.pace())
) AS walk USING (segment_id, distance, minute_of_week);
