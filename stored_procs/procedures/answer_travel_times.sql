-- lr.answer_travel_times(): answer the requests for how long a journey takes, and what it costs.
--
-- Spec    rule 12, travel time, due 30 s after the request.
-- Reads   request, lr_history.segment_average
-- Writes  travel_time
-- Called  by lr.answer_requests, once for all seconds of the cycle.
CREATE OR REPLACE PROCEDURE lr.answer_travel_times()
LANGUAGE sql
AS $$
    INSERT INTO lr.travel_time (request_second, query_id, travel_s, toll)
    SELECT request.request_second, request.query_id, journey.travel_s, journey.toll
    FROM lr.request
    CROSS JOIN LATERAL lr.journey(
        request.xway, request.from_seg, request.to_seg, request.day_of_week, request.minute_of_day
    ) AS journey
    WHERE request.kind = lr.travel_time_kind()
$$;
