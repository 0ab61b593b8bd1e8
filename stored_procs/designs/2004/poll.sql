-- lr.poll(from_second, until_second): one cycle of System X as the paper tells it (section 4.2), and no better.
--
-- Spec    all of it; the seconds lie in one minute and are fewer than 30.
-- Reads   position_report, request
-- Writes  the five tables of answers; vehicle, in place: a plain UPDATE, then an INSERT of those that are new;
--         report_log, all reports of the run unless --keep minutes says otherwise; stopped_car; the ledger
-- Called  by the driver, in the transaction that loaded the input.
--
-- Reports are kept for the whole run: who had no reason to delete them would keep them.
-- A row of lr.vehicle that is updated leaves its old version behind, for each report of the run.
-- Each statement here reads position_report, which the next cycle truncates, so PostgreSQL plans it anew in each cycle,
-- for tables as large as they are then.  With --indexes off a plan reads all of lr.vehicle, some five times a cycle.
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

    -- Toll notifications and accident alerts: who entered a segment?
    INSERT INTO lr.toll_notification (vehicle_id, report_second, lav, toll)
    SELECT vehicle_id, report_second, lav, toll
    FROM lr.arrivals()
    WHERE crossed;

    INSERT INTO lr.accident_alert (report_second, vehicle_id, seg)
    SELECT report_second, vehicle_id, accident_seg
    FROM lr.arrivals()
    WHERE crossed AND accident_seg IS NOT NULL;

    -- Stopped cars: each for the 30 s until its next report is due.
    INSERT INTO lr.stopped_car (vehicle_id, road_id, lane, position_ft, from_second, until_second)
    SELECT vehicle_id, lr.road_id(segment_id), lane, position_ft, report_second, report_second + lr.report_period_s() - 1
    FROM lr.arrivals()
    WHERE stopped;
    CALL lr.lap(v_step_at, p_from_second, 'notify');

    -- Vehicle information: those that are known, then those that are new.
    UPDATE lr.vehicle
    SET
        report_second = arrival.report_second,
        segment_id = arrival.segment_id,
        position_ft = arrival.position_ft,
        lane = arrival.lane,
        stop_reports = arrival.stop_reports,
        toll = arrival.toll,
        charged = arrival.charged,
        paid = vehicle.paid + arrival.charged
    FROM lr.arrivals() AS arrival
    WHERE vehicle.vehicle_id = arrival.vehicle_id AND vehicle.phase = arrival.phase;

    INSERT INTO lr.vehicle (
        vehicle_id, phase, report_second, segment_id, position_ft, lane, stop_reports, toll, charged, paid
    )
    SELECT vehicle_id, phase, report_second, segment_id, position_ft, lane, stop_reports, toll, charged, charged
    FROM lr.arrivals()
    WHERE NOT known;
    CALL lr.lap(v_step_at, p_from_second, 'advance');

    CALL lr.answer_requests(p_from_second, p_until_second, v_step_at);
END
$procedure$;
