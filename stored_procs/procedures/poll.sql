-- lr.poll(from_second, until_second): one cycle of System X, on the seconds that were just loaded.
--
-- Spec    all of it; the seconds lie in one minute and are fewer than 30.
-- Reads   position_report, request
-- Writes  the five tables of answers, and one row of cycle with the milliseconds of each step
-- Called  by the driver, in the transaction that loaded the input.
CREATE OR REPLACE PROCEDURE lr.poll(p_from_second integer, p_until_second integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $procedure$
DECLARE
    v_started_at CONSTANT timestamp with time zone := clock_timestamp();
    v_step_at timestamp with time zone := v_started_at;
    v_minute_ms real := 0;
    v_advance_ms real := 0;
    v_tally_ms real := 0;
    v_balance_ms real := 0;
    v_notify_ms real := 0;
    v_history_ms real := 0;
BEGIN
    IF p_from_second % 60 = 0 THEN
        CALL lr.close_minute(lr.minute_of(p_from_second) - 1);
        CALL lr.lap(v_step_at, v_minute_ms);
    END IF;
    FOR v_second IN p_from_second..p_until_second LOOP
        CALL lr.advance_vehicles(v_second);
        CALL lr.adopt_arrivals(v_second);
        CALL lr.lap(v_step_at, v_advance_ms);
        CALL lr.tally_segments(v_second);
        CALL lr.lap(v_step_at, v_tally_ms);
        CALL lr.note_movements(v_second);
        CALL lr.track_trips(v_second);
        CALL lr.lap(v_step_at, v_notify_ms);
    END LOOP;
    CALL lr.notify_tolls();
    CALL lr.alert_vehicles();
    CALL lr.note_stops();
    CALL lr.lap(v_step_at, v_notify_ms);
    IF NOT EXISTS (SELECT FROM lr.worker WHERE NOT here) THEN
        CALL lr.answer_balances(p_from_second, p_until_second);
        CALL lr.lap(v_step_at, v_balance_ms);
    END IF;
    CALL lr.answer_expenditures();
    CALL lr.answer_travel_times();
    CALL lr.lap(v_step_at, v_history_ms);
    INSERT INTO lr.cycle (
        from_second, until_second, started_at,
        minute_ms, advance_ms, tally_ms, balance_ms, notify_ms, history_ms
    )
    VALUES (
        p_from_second, p_until_second, v_started_at,
        v_minute_ms, v_advance_ms, v_tally_ms, v_balance_ms, v_notify_ms, v_history_ms
    );
END
$procedure$;
