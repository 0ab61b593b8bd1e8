-- lr.close_minute(minute): draw the conclusions from a minute that is over, for the one that begins.
--
-- Spec    rules 2 to 4, 6 and 7.
-- Called  by lr.begin_cycle, lr.open_cycle, before the first second of a minute; a cycle never reaches across one.
CREATE OR REPLACE PROCEDURE lr.close_minute(p_minute integer)
LANGUAGE plpgsql
AS $procedure$
BEGIN
    CALL lr.correct_minute(p_minute);
    CALL lr.measure_minute(p_minute);
    CALL lr.cut_stops(p_minute);
    CALL lr.detect_accidents(p_minute);
    CALL lr.set_tolls(p_minute + 1);
END
$procedure$;
