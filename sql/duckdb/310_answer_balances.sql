-- Answer the requests for a vehicle's account balance; most vehicles report in that very second, on their only trip.
--
-- Spec    rule 10, account balance, due 5 s after the request; the balance is that of the request's own second.
-- Reads   request (this cycle's input), trip_event, the ring's table of this cycle
-- Gives   the answers; `preliminary` where a trip is under way that has no report in this second
WITH asked AS (
    SELECT request_id, second, vehicle_id, query_id
    FROM request
    WHERE kind = lr.balance()
),

-- The index serves only where nothing but the vehicle is compared.
account AS (
    SELECT
        asked.request_id,
        sum(event.change) FILTER (WHERE event.second <= asked.second) AS under_way,
        sum(event.paid) FILTER (WHERE event.second <= asked.second) AS settled
    FROM lr.trip_event AS event
    INNER JOIN asked ON asked.vehicle_id = event.vehicle_id
    GROUP BY asked.request_id
)

SELECT
    asked.second,
    asked.second AS result_second,
    asked.query_id,
    (coalesce(account.settled, 0) + coalesce(trip.paid, 0))::bigint AS balance,
    coalesce(account.under_way, 0) <> (trip.vehicle_id IS NOT NULL)::integer AS preliminary
FROM asked
LEFT JOIN account ON account.request_id = asked.request_id
LEFT JOIN (
    SELECT vehicle_id, second, paid
    FROM lr.ring_now
    WHERE NOT ended
) AS trip ON trip.vehicle_id = asked.vehicle_id AND trip.second = asked.second;
