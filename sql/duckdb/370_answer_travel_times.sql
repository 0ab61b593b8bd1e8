-- Answer the requests for how long a journey takes, and what it costs.
--
-- Spec    rule 12, travel time, due 30 s after the request; -1 and -1 if the history does not tell.
-- Reads   request (this cycle's input), journey, walk
-- Writes  travel_time, anew
CREATE OR REPLACE TABLE lr.travel_time AS
SELECT
    request.second,
    request.query_id,
    coalesce(
        lr.floor_of(walk.travel_minutes * lr.minute_s() + lr.unit() // 2), lr.no_travel_time()
    )::bigint AS travel_s,
    coalesce(
        (2 * walk.toll + lr.toll_unit() * lr.toll_unit()) // (2 * lr.toll_unit() * lr.toll_unit()),
        lr.no_travel_time()
    )::bigint AS toll
FROM request
INNER JOIN lr.journey USING (xway, from_seg, to_seg, day_of_week, minute_of_day)
LEFT JOIN lr.walk ON walk.journey_id = journey.journey_id AND walk.driven = walk.segments
WHERE request.kind = lr.travel_time();
