-- lr.answer_balances(from_second, until_second): answer a cycle's requests for a vehicle's account balance.
--
-- Spec    rule 10, account balance, due 5 s after the request; the balance is that of the request's own second.
-- Reads   request; vehicle, whose rows the cycle's reports have changed once at most
-- Writes  account_balance
-- Called  by lr.answer_requests.
CREATE OR REPLACE PROCEDURE lr.answer_balances(p_from_second integer, p_until_second integer)
LANGUAGE sql
AS $$
    INSERT INTO lr.account_balance (request_second, result_second, query_id, balance)
    SELECT
        request.request_second,
        request.request_second,
        request.query_id,
        coalesce(
            sum(vehicle.paid - CASE WHEN vehicle.report_second > request.request_second THEN vehicle.charged ELSE 0 END), 0
        )
    FROM lr.request
    LEFT JOIN lr.vehicle USING (vehicle_id)
    WHERE request.kind = lr.balance_kind() AND request.request_second BETWEEN p_from_second AND p_until_second
    GROUP BY request.ctid, request.request_second, request.query_id
$$;
