-- lr.begin_cycle(from_second, until_second): make ready for the tuples of some seconds.
--
-- Spec    rules 2 to 4, 6 and 7 when a minute is over; the seconds lie in one minute.
-- Reads   position_report, which holds the minute so far
-- Writes  clears request and answers, and position_report after its minute; one row of cycle
-- Called  by the driver at the start of each cycle's transaction; triggers do the rest.
CREATE OR REPLACE PROCEDURE lr.begin_cycle(p_from_second integer, p_until_second integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $procedure$
BEGIN
    INSERT INTO lr.cycle (from_second, until_second) VALUES (p_from_second, p_until_second);
    IF p_from_second % lr.minute_s() = 0 THEN
        CALL lr.review_minute(lr.minute_of(p_from_second) - 1, 'lr.position_report');
        CALL lr.close_minute(lr.minute_of(p_from_second) - 1);
        TRUNCATE lr.position_report;
    END IF;
    TRUNCATE lr.request, lr.toll_notification, lr.accident_alert,
        lr.account_balance, lr.daily_expenditure, lr.travel_time;
END
$procedure$;
