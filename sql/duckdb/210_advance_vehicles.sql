-- Join the reports of a cycle with those of 30 s before.
--
-- Spec    rules 1, 5, 6 and 9: trips, segments entered, stops, tolls assessed.
-- Reads   report (this cycle's input), the ring's rows of 30 s before, segment_toll
-- Writes  the ring's table of this cycle
CREATE OR REPLACE TABLE lr.ring_now AS
SELECT
    coalesce(report.second, previous.second + lr.report_period_s())::smallint AS second,
    coalesce(report.vehicle_id, previous.vehicle_id) AS vehicle_id,
    coalesce(report.segment_id, previous.segment_id) AS segment_id,
    coalesce(report.position_ft, previous.position_ft) AS position_ft,
    coalesce(report.lane, previous.lane) AS lane,
    coalesce(report.speed_mph, previous.speed_mph) AS speed_mph,
    (CASE
        WHEN report.second % lr.minute_s() >= lr.report_period_s() AND previous.segment_id = report.segment_id
            THEN report.speed_mph - previous.speed_mph
        ELSE 2 * coalesce(report.speed_mph, 0)
    END)::smallint AS tally,
    coalesce(traffic.lav, lr.no_lav())::smallint AS lav,
    traffic.accident_seg,
    (CASE
        WHEN previous.position_ft = report.position_ft
            AND previous.lane = report.lane
            AND lr.road_id(previous.segment_id) = lr.road_id(report.segment_id)
            THEN least(previous.stop_reports + 1, lr.stop_reports())
        ELSE 1
    END)::smallint AS stop_reports,
    coalesce(
        report.second % lr.minute_s() < lr.report_period_s() OR previous.segment_id <> report.segment_id, TRUE
    ) AS counted,
    previous.vehicle_id IS NULL AS started,
    report.vehicle_id IS NULL AS ended,
    coalesce(
        report.lane <> lr.exit_lane() AND coalesce(lr.seg_of(previous.segment_id) <> report.seg, TRUE), FALSE
    ) AS crossed,
    (CASE
        WHEN lr.seg_of(previous.segment_id) = report.seg THEN previous.toll
        WHEN report.lane = lr.exit_lane() THEN 0
        ELSE coalesce(traffic.toll, 0)
    END)::bigint AS toll,
    (CASE
        WHEN lr.seg_of(previous.segment_id) <> report.seg THEN previous.paid + previous.toll
        ELSE coalesce(previous.paid, 0)
    END)::bigint AS paid
FROM (
    SELECT
        second,
        vehicle_id,
        lr.segment_id(xway, dir, seg) AS segment_id,
        seg,
        position_ft,
        lane,
        speed_mph
    FROM report
) AS report
FULL JOIN (
    SELECT second, vehicle_id, segment_id, position_ft, lane, speed_mph, stop_reports, toll, paid
    FROM lr.ring_previous
    WHERE NOT ended
) AS previous ON previous.vehicle_id = report.vehicle_id AND previous.second + lr.report_period_s() = report.second
LEFT JOIN lr.segment_toll AS traffic ON traffic.segment_id = report.segment_id;
