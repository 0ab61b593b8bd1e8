-- lr.begin_cycle(from_second, until_second): make ready for the tuples of some seconds.
--
-- Spec    rules 2 to 4, 6 and 7 when a minute is over; the seconds lie in one minute.
-- Reads   position_report, which holds the minute so far
-- Writes  clears request and answers, and position_report after its minute; one row of cycle
-- Called  by the driver at the start of each cycle's transaction; triggers do the rest.
CREATE OR REPLACE PROCEDURE lr.begin_cycle(p_from_second integer, p_until_second integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $procedure$
DECLARE
    v_started_at CONSTANT timestamp with time zone := clock_timestamp();
    v_step_at timestamp with time zone := v_started_at;
    v_minute_ms real := 0;
BEGIN
    IF p_from_second % 60 = 0 THEN
        CALL lr.review_minute();
        CALL lr.close_minute(lr.minute_of(p_from_second) - 1);
        TRUNCATE lr.position_report;
        CALL lr.lap(v_step_at, v_minute_ms);
    END IF;
    TRUNCATE lr.request, lr.toll_notification, lr.accident_alert,
        lr.account_balance, lr.daily_expenditure, lr.travel_time;
    INSERT INTO lr.cycle (
        from_second, until_second, started_at,
        minute_ms, advance_ms, tally_ms, balance_ms, notify_ms, history_ms
    )
    VALUES (p_from_second, p_until_second, v_started_at, v_minute_ms, 0, 0, 0, 0, 0);
END
$procedure$;
