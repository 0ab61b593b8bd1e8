-- lr.begin_cycle(from_second, until_second): make ready for the tuples of some seconds.
--
-- Spec    rules 2 to 4, 6 and 7 when a minute is over; the seconds lie in one minute.
-- Writes  clears input and answers; cycle, which tells the triggers the seconds
-- Called  by the driver at the start of each cycle's transaction; triggers do the rest.
CREATE OR REPLACE PROCEDURE lr.begin_cycle(p_from_second integer, p_until_second integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $procedure$
BEGIN
    CALL lr.clear_cycle();
    CALL lr.open_cycle(p_from_second, p_until_second);
END
$procedure$;
