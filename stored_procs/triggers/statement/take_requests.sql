-- lr.take_requests(): answer the requests of a cycle, when their COPY ends.
--
-- Spec    rules 10 to 12, by the polling engine's own steps.
-- Reads   request, which holds this cycle's and no others; cycle, for the seconds that they cover
-- Writes  daily_expenditure, travel_time; account_balance, unless other workers have to commit their reports first
-- Called  as statement trigger on request.
CREATE OR REPLACE FUNCTION lr.take_requests()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_cycle lr.cycle;
    v_step_at timestamp with time zone := clock_timestamp();
BEGIN
    SELECT * INTO v_cycle FROM lr.cycle ORDER BY from_second DESC LIMIT 1;
    IF NOT EXISTS (SELECT FROM lr.worker WHERE NOT here) THEN
        CALL lr.answer_balances(v_cycle.from_second, v_cycle.until_second);
        CALL lr.lap(v_step_at, v_cycle.balance_ms);
    END IF;
    CALL lr.answer_expenditures();
    CALL lr.answer_travel_times();
    CALL lr.lap(v_step_at, v_cycle.history_ms);
    UPDATE lr.cycle
    SET balance_ms = v_cycle.balance_ms, history_ms = v_cycle.history_ms
    WHERE from_second = v_cycle.from_second;
    RETURN NULL;
END
$function$;

CREATE TRIGGER take_requests AFTER INSERT ON lr.request
FOR EACH STATEMENT EXECUTE FUNCTION lr.take_requests();
