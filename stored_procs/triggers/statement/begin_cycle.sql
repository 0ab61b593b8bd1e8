-- lr.begin_cycle(from_second, until_second): make ready for the tuples of some seconds.
--
-- Spec    rules 2 to 4, 6 and 7 when a minute is over; the seconds lie in one minute.
-- Writes  clears input and answers; one row of cycle, which the triggers complete
-- Called  by the driver at the start of each cycle's transaction; triggers do the rest.
CREATE OR REPLACE PROCEDURE lr.begin_cycle(p_from_second integer, p_until_second integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $procedure$
DECLARE
    v_started_at CONSTANT timestamp with time zone := clock_timestamp();
    v_step_at timestamp with time zone := v_started_at;
    v_minute_ms real := 0;
BEGIN
    CALL lr.clear_cycle();
    IF p_from_second % 60 = 0 THEN
        CALL lr.close_minute(lr.minute_of(p_from_second) - 1);
        CALL lr.lap(v_step_at, v_minute_ms);
    END IF;
    INSERT INTO lr.cycle (
        from_second, until_second, started_at,
        minute_ms, advance_ms, tally_ms, balance_ms, notify_ms, history_ms
    )
    VALUES (p_from_second, p_until_second, v_started_at, v_minute_ms, 0, 0, 0, 0, 0);
END
$procedure$;
