-- lr.poll(from_second, until_second): one cycle of System X, on the seconds that were just loaded.
--
-- Spec    all of it; the seconds lie in one minute and are fewer than 30.
-- Reads   position_report, request
-- Writes  the five tables of answers, and the ledger
-- Called  by the driver, in the transaction that loaded the input.
CREATE OR REPLACE PROCEDURE lr.poll(p_from_second integer, p_until_second integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $procedure$
DECLARE
    v_step_at timestamp with time zone;
BEGIN
    CALL lr.open_cycle(p_from_second, p_until_second);
    v_step_at := clock_timestamp();
    FOR v_second IN p_from_second..p_until_second LOOP
        CALL lr.advance_vehicles(v_second);
    END LOOP;
    CALL lr.conclude_cycle(p_from_second, p_until_second, v_step_at);
END
$procedure$;
