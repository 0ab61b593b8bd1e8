-- lr.take_report(): all that one position report means, at its insert.
--
-- Spec    rules 1, 5, 6, 8 and 9: trip, toll notification, alert, stop, toll assessed.
-- Reads   trip, segment_toll
-- Writes  trip, toll_notification, accident_alert, stopped_car; vehicle, where a toll is assessed; the statistics of a
--         minute are lr.review_minute's
-- Called  as row trigger on position_report.
CREATE OR REPLACE FUNCTION lr.take_report()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_phase CONSTANT smallint := NEW.report_second % lr.report_period_s();
    v_segment_id CONSTANT integer := lr.segment_id(NEW.xway, NEW.dir, NEW.seg);
    v_known lr.trip;
    v_traffic lr.segment_toll;
    v_continues boolean;
    v_stop_reports smallint := 1;
    v_toll bigint := 0;
BEGIN
    SELECT * INTO v_known FROM lr.trip WHERE vehicle_id = NEW.vehicle_id AND phase = v_phase;
    v_continues := FOUND AND v_known.report_second = NEW.report_second - lr.report_period_s();

    IF v_continues AND lr.seg_of(v_known.segment_id) = NEW.seg THEN
        v_toll := v_known.toll;
    ELSE
        IF v_continues AND v_known.toll > 0 THEN
            INSERT INTO lr.vehicle AS payer (vehicle_id, trips_begun, trips_ended, balance)
            VALUES (NEW.vehicle_id, 0, 0, v_known.toll)
            ON CONFLICT (vehicle_id) DO UPDATE SET balance = payer.balance + excluded.balance;
        END IF;
        IF NEW.lane <> lr.exit_lane() THEN
            SELECT * INTO v_traffic FROM lr.segment_toll WHERE segment_id = v_segment_id;
            v_toll := coalesce(v_traffic.toll, 0);
            INSERT INTO lr.toll_notification (vehicle_id, report_second, lav, toll)
            VALUES (NEW.vehicle_id, NEW.report_second, coalesce(v_traffic.lav, lr.no_lav()), v_toll);
            IF v_traffic.accident_seg IS NOT NULL THEN
                INSERT INTO lr.accident_alert (report_second, vehicle_id, seg)
                VALUES (NEW.report_second, NEW.vehicle_id, v_traffic.accident_seg);
            END IF;
        END IF;
    END IF;

    IF v_continues AND v_known.position_ft = NEW.position_ft AND v_known.lane = NEW.lane
        AND lr.road_id(v_known.segment_id) = lr.road_id(v_segment_id)
    THEN
        v_stop_reports := least(v_known.stop_reports + 1, lr.stop_reports());
        IF v_stop_reports = lr.stop_reports() AND NEW.lane = ANY(lr.travel_lanes()) THEN
            INSERT INTO lr.stopped_car (vehicle_id, road_id, lane, position_ft, from_second, until_second)
            VALUES (
                NEW.vehicle_id, lr.road_id(v_segment_id), NEW.lane, NEW.position_ft,
                NEW.report_second, NEW.report_second + lr.report_period_s() - 1
            );
        END IF;
    END IF;

    INSERT INTO lr.trip (vehicle_id, phase, report_second, segment_id, position_ft, lane, stop_reports, toll)
    VALUES (
        NEW.vehicle_id, v_phase, NEW.report_second, v_segment_id, NEW.position_ft, NEW.lane, v_stop_reports, v_toll
    )
    ON CONFLICT (vehicle_id, phase) DO UPDATE SET
        report_second = excluded.report_second,
        segment_id = excluded.segment_id,
        position_ft = excluded.position_ft,
        lane = excluded.lane,
        stop_reports = excluded.stop_reports,
        toll = excluded.toll;
    RETURN NULL;
END
$function$;

CREATE TRIGGER take_report AFTER INSERT ON lr.position_report
FOR EACH ROW EXECUTE FUNCTION lr.take_report();
