-- lr.open_cycle(from_second, until_second): enter a cycle in the ledger, and close the minute that is over.
--
-- Spec    rules 2 to 4, 6 and 7 when a minute is over; the seconds lie in one minute.
-- Writes  cycle; what lr.close_minute writes
-- Called  by lr.begin_cycle, lr.poll.
CREATE OR REPLACE PROCEDURE lr.open_cycle(p_from_second integer, p_until_second integer)
LANGUAGE plpgsql
AS $procedure$
DECLARE
    v_step_at timestamp with time zone;
BEGIN
    INSERT INTO lr.cycle (from_second, until_second) VALUES (p_from_second, p_until_second);
    v_step_at := clock_timestamp();
    IF p_from_second % lr.minute_s() = 0 THEN
        CALL lr.close_minute(lr.minute_of(p_from_second) - 1);
    END IF;
    CALL lr.lap(v_step_at, p_from_second, 'minute');
END
$procedure$;
