-- Answer the requests for a vehicle's account balance; most vehicles report in that very second, on their only trip.
--
-- Spec    rule 10, account balance, due 5 s after the request; the balance is that of the request's own second.
-- Reads   request (this cycle's input), trip_event, the ring's table of this cycle
-- Writes  account_balance, anew; `unsure` where a trip is under way that has no report in this second
CREATE OR REPLACE TABLE lr.account_balance AS
WITH asked AS (
    SELECT row_number() OVER () AS account_id, second, vehicle_id, query_id
    FROM request
    WHERE kind = lr.balance()
),

account AS (
    SELECT asked.account_id, sum(event.change) AS under_way, sum(event.paid) AS settled
    FROM asked
    INNER JOIN lr.trip_event AS event ON event.vehicle_id = asked.vehicle_id
    WHERE event.second <= asked.second
    GROUP BY asked.account_id
)

SELECT
    asked.account_id,
    asked.vehicle_id,
    asked.second,
    asked.second AS result_second,
    asked.query_id,
    coalesce(account.settled, 0)::bigint AS settled,
    (coalesce(account.settled, 0) + coalesce(trip.paid, 0))::bigint AS balance,
    coalesce(account.under_way, 0) <> (trip.vehicle_id IS NOT NULL)::integer AS unsure
FROM asked
LEFT JOIN account ON account.account_id = asked.account_id
LEFT JOIN lr.ring_now AS trip
    ON trip.vehicle_id = asked.vehicle_id AND trip.second = asked.second AND NOT trip.ended;
