-- lr.poll(from_second, until_second): one cycle of System X, report by report.
--
-- Spec    all of it; the seconds lie in one minute and are fewer than 30.
-- Reads   position_report, request, segment_toll
-- Writes  the five tables of answers; vehicle, one row at a time; report_log, stopped_car; the ledger
-- Called  by the driver, in the transaction that loaded the input.
--
-- The loop's statements are planned once, before the run, when lr.vehicle is empty; PostgreSQL takes an empty table for
-- one of ten pages, so they use the key if there is one.  With --indexes off each report reads all of lr.vehicle.
CREATE OR REPLACE PROCEDURE lr.poll(p_from_second integer, p_until_second integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $procedure$
DECLARE
    v_step_at timestamp with time zone;
    v_report lr.position_report;
    v_phase smallint;
    v_segment_id integer;
    v_known lr.vehicle;
    v_traffic lr.segment_toll;
    v_meaning record;
BEGIN
    CALL lr.open_cycle(p_from_second, p_until_second);
    v_step_at := clock_timestamp();

    FOR v_report IN
        SELECT report_second, vehicle_id, speed_mph, xway, lane, dir, seg, position_ft
        FROM lr.position_report
    LOOP
        v_phase := v_report.report_second % lr.report_period_s();
        v_segment_id := lr.segment_id(v_report.xway, v_report.dir, v_report.seg);
        SELECT * INTO v_known FROM lr.vehicle WHERE vehicle_id = v_report.vehicle_id AND phase = v_phase;
        SELECT * INTO v_traffic FROM lr.segment_toll WHERE segment_id = v_segment_id;
        SELECT * INTO v_meaning FROM lr.consequences(v_report, v_known, v_traffic);

        IF v_meaning.crossed THEN
            INSERT INTO lr.toll_notification (vehicle_id, report_second, lav, toll)
            VALUES (
                v_report.vehicle_id, v_report.report_second, coalesce(v_traffic.lav, lr.no_lav()), v_meaning.toll
            );
            IF v_traffic.accident_seg IS NOT NULL THEN
                INSERT INTO lr.accident_alert (report_second, vehicle_id, seg)
                VALUES (v_report.report_second, v_report.vehicle_id, v_traffic.accident_seg);
            END IF;
        END IF;

        IF v_meaning.stopped THEN
            INSERT INTO lr.stopped_car (vehicle_id, road_id, lane, position_ft, from_second, until_second)
            VALUES (
                v_report.vehicle_id, lr.road_id(v_segment_id), v_report.lane, v_report.position_ft,
                v_report.report_second, v_report.report_second + lr.report_period_s() - 1
            );
        END IF;

        IF v_known.vehicle_id IS NULL THEN
            INSERT INTO lr.vehicle (
                vehicle_id, phase, report_second, segment_id, position_ft, lane, stop_reports, toll, charged, paid
            )
            VALUES (
                v_report.vehicle_id, v_phase, v_report.report_second, v_segment_id, v_report.position_ft, v_report.lane,
                v_meaning.stop_reports, v_meaning.toll, v_meaning.charged, v_meaning.charged
            );
        ELSE
            UPDATE lr.vehicle
            SET
                report_second = v_report.report_second,
                segment_id = v_segment_id,
                position_ft = v_report.position_ft,
                lane = v_report.lane,
                stop_reports = v_meaning.stop_reports,
                toll = v_meaning.toll,
                charged = v_meaning.charged,
                paid = paid + v_meaning.charged
            WHERE vehicle_id = v_report.vehicle_id AND phase = v_phase;
        END IF;

        INSERT INTO lr.report_log (report_second, vehicle_id, speed_mph, xway, lane, dir, seg, position_ft)
        VALUES (
            v_report.report_second, v_report.vehicle_id, v_report.speed_mph, v_report.xway, v_report.lane, v_report.dir,
            v_report.seg, v_report.position_ft
        );
    END LOOP;
    CALL lr.lap(v_step_at, p_from_second, 'advance');

    CALL lr.answer_requests(p_from_second, p_until_second, v_step_at);
END
$procedure$;
