-- lr.close_minute(minute): the statistics of a minute that is over, by a query over its reports, and its accidents.
--
-- Spec    rules 2, 3 and 6; what they mean is asked for by each report that enters a segment.
-- Reads   report_log
-- Writes  what its steps write; segment_minute, of which five minutes stay; report_log, where reports are kept for some
--         minutes only
-- Called  by lr.begin_cycle, lr.open_cycle, before the first second of a minute; a cycle never reaches across one.
CREATE OR REPLACE PROCEDURE lr.close_minute(p_minute integer)
LANGUAGE plpgsql
AS $procedure$
BEGIN
    CALL lr.review_minute(p_minute, 'lr.report_log');
    CALL lr.measure_minute(p_minute);
    CALL lr.detect_accidents(p_minute);
    DELETE FROM lr.segment_minute
    WHERE minute <= p_minute - lr.lav_minutes();
    DELETE FROM lr.report_log
    WHERE report_second < (p_minute - lr.kept_minutes()) * lr.minute_s();
END
$procedure$;
