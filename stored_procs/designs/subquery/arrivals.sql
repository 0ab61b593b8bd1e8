-- lr.arrivals(): the reports of the cycle, each with what it means for its vehicle.
--
-- Spec    rules 1, 5, 6, 8 and 9, by lr.consequences.  A cycle has fewer than 30 s, so it has one report of a vehicle
--         and phase at most.
-- Reads   position_report; vehicle as the last cycle left it; segment_minute and accident, by lr.traffic_at
-- Called  by lr.poll; a plan has the query itself, and reads what the caller takes from it.
CREATE OR REPLACE FUNCTION lr.arrivals()
RETURNS TABLE (
    vehicle_id integer, phase smallint, report_second smallint, segment_id integer, position_ft integer, lane smallint,
    lav smallint, accident_seg smallint, known boolean,
    crossed boolean, stop_reports smallint, stopped boolean, toll bigint, charged bigint
)
LANGUAGE sql STABLE
AS $$
    SELECT
        report.vehicle_id,
        (report.report_second % lr.report_period_s())::smallint,
        report.report_second,
        lr.segment_id(report.xway, report.dir, report.seg),
        report.position_ft,
        report.lane,
        traffic.lav::smallint,
        traffic.accident_seg,
        known.vehicle_id IS NOT NULL,
        consequence.crossed,
        consequence.stop_reports,
        consequence.stopped,
        consequence.toll,
        consequence.charged
    FROM lr.position_report AS report
    LEFT JOIN lr.vehicle AS known
        ON known.vehicle_id = report.vehicle_id AND known.phase = report.report_second % lr.report_period_s()
    CROSS JOIN LATERAL lr.traffic_at(
        lr.segment_id(report.xway, report.dir, report.seg), lr.minute_of(report.report_second)
    ) AS traffic
    CROSS JOIN LATERAL lr.consequences(
        report,
        known,
        ROW(
            lr.segment_id(report.xway, report.dir, report.seg), traffic.lav, traffic.toll, traffic.accident_seg
        )::lr.segment_toll
    ) AS consequence
$$;
