-- lr.clear_cycle(): empty the tables that hold one cycle's input and answers.
--
-- Called  by lr.begin_cycle, and by the driver at the start of each cycle's transaction; the answers of the last cycle
--         stay until then.
CREATE OR REPLACE PROCEDURE lr.clear_cycle()
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    TRUNCATE lr.position_report, lr.request, lr.toll_notification, lr.accident_alert,
        lr.account_balance, lr.daily_expenditure, lr.travel_time
$$;
