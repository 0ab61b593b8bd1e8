-- lr.answer_balances(from_second, until_second): answer a cycle's requests for a vehicle's account balance.
--
-- Spec    rule 10, account balance, due 5 s after the request; the balance is that of the request's own second.
-- Reads   request; vehicle and the ring, of every worker
-- Writes  account_balance
-- Called  by lr.answer_requests of a single worker; of several, by the driver when all have committed the cycle's
--         reports.
CREATE OR REPLACE PROCEDURE lr.answer_balances(p_from_second integer, p_until_second integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $procedure$
DECLARE
    v_vehicles integer [];
    v_asked integer [];
BEGIN
    SELECT array_agg(first.vehicle_id), array_agg(first.asked)
    INTO v_vehicles, v_asked
    FROM (
        SELECT vehicle_id, min(request_second) AS asked
        FROM lr.request
        WHERE kind = lr.balance_kind()
        GROUP BY vehicle_id
    ) AS first;
    IF v_vehicles IS NOT NULL THEN
        WITH part AS MATERIALIZED (
            SELECT paid.vehicle_id, paid.first_second, paid.last_second, paid.amount
            FROM lr.worker
            CROSS JOIN LATERAL lr.paid_by(
                v_vehicles, v_asked, p_from_second, p_until_second, worker.schema_name
            ) AS paid
        )

        INSERT INTO lr.account_balance (request_second, result_second, query_id, balance)
        SELECT request.request_second, request.request_second, request.query_id, coalesce(sum(part.amount), 0)
        FROM lr.request
        LEFT JOIN part
            ON part.vehicle_id = request.vehicle_id
            AND request.request_second BETWEEN part.first_second AND part.last_second
        WHERE request.kind = lr.balance_kind()
        GROUP BY request.ctid, request.request_second, request.query_id;
    END IF;
END
$procedure$;
