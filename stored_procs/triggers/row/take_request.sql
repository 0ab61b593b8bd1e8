-- lr.take_request(): answer one request, at its insert.
--
-- Spec    rules 10 to 12.  The reports of the request's second are in already, later ones are not: a balance is exact.
-- Reads   vehicle, lr_history
-- Writes  account_balance, daily_expenditure or travel_time
-- Called  as row trigger on request.
CREATE OR REPLACE FUNCTION lr.take_request()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF NEW.kind = lr.balance_kind() THEN
        INSERT INTO lr.account_balance (request_second, result_second, query_id, balance)
        VALUES (
            NEW.request_second, NEW.request_second, NEW.query_id,
            coalesce((SELECT balance FROM lr.vehicle WHERE vehicle_id = NEW.vehicle_id), 0)
        );
    ELSIF NEW.kind = lr.expenditure_kind() THEN
        INSERT INTO lr.daily_expenditure (request_second, query_id, tolls)
        VALUES (
            NEW.request_second, NEW.query_id,
            coalesce((
                SELECT tolls
                FROM lr_history.toll_history
                WHERE vehicle_id = NEW.vehicle_id AND day = NEW.day AND xway = NEW.xway
            ), 0)
        );
    ELSE
        INSERT INTO lr.travel_time (request_second, query_id, travel_s, toll)
        SELECT NEW.request_second, NEW.query_id, travel_s, toll
        FROM lr.journey(NEW.xway, NEW.from_seg, NEW.to_seg, NEW.day_of_week, NEW.minute_of_day);
    END IF;
    RETURN NULL;
END
$function$;

CREATE TRIGGER take_request AFTER INSERT ON lr.request
FOR EACH ROW EXECUTE FUNCTION lr.take_request();
