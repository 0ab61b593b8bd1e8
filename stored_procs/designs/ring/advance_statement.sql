-- lr.advance_statement(second, reports): the statement that joins the reports of one second with those of 30 s before.
--
-- Spec    rules 1, 5, 6 and 9: trips, segments entered, stops, tolls assessed.
-- Gives   text that takes the second as $1; it reads `reports` (a table, or the transition table that only a trigger
--         can name), the ring's table of 30 s before and segment_toll, and fills the ring's table of this second
-- Called  by lr.advance_vehicles, lr.take_reports.
CREATE OR REPLACE FUNCTION lr.advance_statement(p_second integer, p_reports text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$
    SELECT format($$
        INSERT INTO lr.%1$I (
            vehicle_id, segment_id, position_ft, lane, speed_mph, tally, lav, stop_reports,
            counted, started, ended, crossed, toll, paid
        )
        SELECT
            coalesce(report.vehicle_id, previous.vehicle_id),
            coalesce(report.segment_id, previous.segment_id),
            coalesce(report.position_ft, previous.position_ft),
            coalesce(report.lane, previous.lane),
            coalesce(report.speed_mph, previous.speed_mph),
            CASE
                WHEN %3$L AND previous.segment_id = report.segment_id THEN report.speed_mph - previous.speed_mph
                ELSE 2 * coalesce(report.speed_mph, 0)
            END,
            coalesce(traffic.lav, %5$s),
            CASE
                WHEN previous.position_ft = report.position_ft
                    AND previous.lane = report.lane
                    AND lr.road_id(previous.segment_id) = lr.road_id(report.segment_id)
                    THEN least(previous.stop_reports + 1, %6$s)
                ELSE 1
            END,
            NOT %3$L OR previous.segment_id IS DISTINCT FROM report.segment_id,
            previous.vehicle_id IS NULL,
            report.vehicle_id IS NULL,
            coalesce(report.lane, %7$s) <> %7$s AND lr.seg_of(previous.segment_id) IS DISTINCT FROM report.seg,
            CASE
                WHEN lr.seg_of(previous.segment_id) = report.seg THEN previous.toll
                WHEN report.lane = %7$s THEN 0
                ELSE coalesce(traffic.toll, 0)
            END,
            CASE
                WHEN lr.seg_of(previous.segment_id) <> report.seg THEN previous.paid + previous.toll
                ELSE coalesce(previous.paid, 0)
            END
        FROM (
            SELECT
                vehicle_id,
                lr.segment_id(xway, dir, seg) AS segment_id,
                seg,
                position_ft,
                lane,
                speed_mph
            FROM %4$s
            WHERE report_second = $1
        ) AS report
        FULL JOIN (
            SELECT vehicle_id, segment_id, position_ft, lane, speed_mph, stop_reports, toll, paid
            FROM lr.%2$I
            WHERE NOT ended
        ) AS previous ON previous.vehicle_id = report.vehicle_id
        LEFT JOIN lr.segment_toll AS traffic ON traffic.segment_id = report.segment_id
    $$,
    lr.ring_table(p_second), lr.ring_table(p_second - lr.report_period_s()),
    lr.minute_of(p_second - lr.report_period_s()) = lr.minute_of(p_second), p_reports,
    lr.no_lav(), lr.stop_reports(), lr.exit_lane())
$function$;
