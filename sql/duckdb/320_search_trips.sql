-- Answer the same requests where a trip is under way that has no report in this second: look for all trips.
--
-- Spec    rule 10: each trip under way has one report in the last 30 s.
-- Reads   request (this cycle's input), trip_event, the ring's tables of the last 30 s
-- Gives   the answers
WITH asked AS (
    SELECT request_id, second, vehicle_id, query_id
    FROM request
    WHERE kind = lr.balance()
),

account AS (
    SELECT asked.request_id, if(event.second <= asked.second, event.paid, 0) AS paid
    FROM lr.trip_event AS event
    INNER JOIN asked ON asked.vehicle_id = event.vehicle_id
    UNION ALL
    SELECT asked.request_id, trip.paid
    FROM lr.ring_recent AS trip
    INNER JOIN asked ON asked.vehicle_id = trip.vehicle_id
    WHERE NOT trip.ended
        AND trip.second > asked.second - lr.report_period_s() AND trip.second <= asked.second
)

SELECT
    asked.second,
    asked.second AS result_second,
    asked.query_id,
    coalesce(sum(account.paid), 0)::bigint AS balance
FROM asked
LEFT JOIN account ON account.request_id = asked.request_id
GROUP BY asked.request_id, asked.second, asked.query_id;
