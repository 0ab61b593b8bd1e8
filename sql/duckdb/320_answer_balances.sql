-- Answer the requests for a vehicle's account balance.
--
-- Spec    rule 10, account balance, due 5 s after the request; the balance is that of the request's own second.
-- Reads   account, settled, movement; the ring's tables of the last 30 s, or none if no account is unsure
-- Writes  account_balance, anew
CREATE OR REPLACE TABLE lr.account_balance AS
WITH part AS (
    SELECT account_id, paid
    FROM lr.account
    WHERE NOT unsure
    UNION ALL
    SELECT account.account_id, trip.paid
    FROM lr.ring_recent AS trip
    INNER JOIN lr.account ON account.vehicle_id = trip.vehicle_id
    WHERE account.unsure AND NOT trip.ended
        AND trip.second > account.second - lr.report_period_s() AND trip.second <= account.second
    UNION ALL
    SELECT account.account_id, movement.paid
    FROM lr.movement
    INNER JOIN lr.account ON account.vehicle_id = movement.vehicle_id
    WHERE account.unsure AND movement.ended AND movement.second <= account.second
    UNION ALL
    SELECT account.account_id, settled.paid
    FROM lr.settled
    INNER JOIN lr.account ON account.vehicle_id = settled.vehicle_id
)

SELECT
    account.second,
    account.second AS result_second,
    account.query_id,
    coalesce(sum(part.paid), 0)::bigint AS balance
FROM lr.account
LEFT JOIN part USING (account_id)
GROUP BY account_id, account.second, account.query_id;
