-- Look for all trips under way of the vehicles whose balance is unsure.
--
-- Spec    rule 10: each trip under way has one report in the last 30 s.
-- Reads   the ring's tables of the last 30 s
-- Writes  account_balance, anew
CREATE OR REPLACE TABLE lr.account_balance AS
WITH trip AS (
    SELECT account.account_id, sum(trip.paid) AS paid
    FROM lr.ring_recent AS trip
    INNER JOIN lr.account_balance AS account ON account.vehicle_id = trip.vehicle_id
    WHERE account.unsure AND NOT trip.ended
        AND trip.second > account.second - lr.report_period_s() AND trip.second <= account.second
    GROUP BY account.account_id
)

SELECT
    account.account_id,
    account.vehicle_id,
    account.second,
    account.result_second,
    account.query_id,
    account.settled,
    if(account.unsure, account.settled + coalesce(trip.paid, 0), account.balance)::bigint AS balance,
    account.unsure
FROM lr.account_balance AS account
LEFT JOIN trip ON trip.account_id = account.account_id;
