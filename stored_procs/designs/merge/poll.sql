-- lr.poll(from_second, until_second): one cycle of System X, as one statement over the reports that were just loaded.
--
-- Spec    all of it; the seconds lie in one minute and are fewer than 30.
-- Reads   position_report, request
-- Writes  the five tables of answers; vehicle, in place, new rows and known ones alike; report_log, of this minute;
--         stopped_car; the ledger
-- Called  by the driver, in the transaction that loaded the input.
--
-- The reports are joined with their vehicles once.  Each cycle plans this anew, since the table of input was truncated;
-- and whatever the planner thinks of a table's size, it has a unique key to each vehicle and each segment.
CREATE OR REPLACE PROCEDURE lr.poll(p_from_second integer, p_until_second integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $procedure$
DECLARE
    v_step_at timestamp with time zone;
BEGIN
    CALL lr.open_cycle(p_from_second, p_until_second);
    v_step_at := clock_timestamp();

    INSERT INTO lr.report_log (report_second, vehicle_id, speed_mph, xway, lane, dir, seg, position_ft)
    SELECT report_second, vehicle_id, speed_mph, xway, lane, dir, seg, position_ft
    FROM lr.position_report;
    CALL lr.lap(v_step_at, p_from_second, 'log');

    WITH arrival AS MATERIALIZED (
        SELECT
            vehicle_id, phase, report_second, segment_id, position_ft, lane, lav, accident_seg,
            crossed, stop_reports, stopped, toll, charged
        FROM lr.arrivals()
    ),

    notified AS (
        INSERT INTO lr.toll_notification (vehicle_id, report_second, lav, toll)
        SELECT vehicle_id, report_second, lav, toll
        FROM arrival
        WHERE crossed
    ),

    alerted AS (
        INSERT INTO lr.accident_alert (report_second, vehicle_id, seg)
        SELECT report_second, vehicle_id, accident_seg
        FROM arrival
        WHERE crossed AND accident_seg IS NOT NULL
    ),

    stopped AS (
        INSERT INTO lr.stopped_car (vehicle_id, road_id, lane, position_ft, from_second, until_second)
        SELECT vehicle_id, lr.road_id(segment_id), lane, position_ft, report_second, report_second + lr.report_period_s() - 1
        FROM arrival
        WHERE stopped
    )

    INSERT INTO lr.vehicle AS known (
        vehicle_id, phase, report_second, segment_id, position_ft, lane, stop_reports, toll, charged, paid
    )
    SELECT vehicle_id, phase, report_second, segment_id, position_ft, lane, stop_reports, toll, charged, charged
    FROM arrival
    ON CONFLICT (vehicle_id, phase) DO UPDATE SET
        report_second = excluded.report_second,
        segment_id = excluded.segment_id,
        position_ft = excluded.position_ft,
        lane = excluded.lane,
        stop_reports = excluded.stop_reports,
        toll = excluded.toll,
        charged = excluded.charged,
        paid = known.paid + excluded.charged;
    CALL lr.lap(v_step_at, p_from_second, 'advance');

    CALL lr.answer_requests(p_from_second, p_until_second, v_step_at);
END
$procedure$;
