-- Join the reports of one second with those of 30 s before.
--
-- Spec    rules 1, 5, 6 and 9: trips, segments entered, stops, tolls assessed.
-- Reads   position_report, the ring's table of 30 s before, segment_toll
-- Writes  the ring's table of this second, anew
DELETE FROM lr.ring_now;

INSERT INTO lr.ring_now (
    vehicle_id, segment_id, position_ft, lane, speed_mph, tally, lav, stop_reports,
    counted, started, ended, crossed, toll, paid
)
SELECT
    report.vehicle_id,
    report.segment_id,
    report.position_ft,
    report.lane,
    report.speed_mph,
    CASE
        WHEN :second % :minute_s >= :report_period_s AND previous.segment_id = report.segment_id
            THEN report.speed_mph - previous.speed_mph
        ELSE 2 * report.speed_mph
    END,
    coalesce(traffic.lav, :no_lav),
    CASE
        WHEN
            previous.position_ft = report.position_ft
            AND previous.lane = report.lane
            AND previous.segment_id / :segments = report.segment_id / :segments
            THEN min(previous.stop_reports + 1, :stop_reports)
        ELSE 1
    END,
    :second % :minute_s < :report_period_s OR previous.segment_id IS NOT report.segment_id,
    previous.vehicle_id IS NULL,
    FALSE,
    report.lane <> :exit_lane AND previous.segment_id % :segments IS NOT report.seg,
    CASE
        WHEN previous.segment_id % :segments = report.seg THEN previous.toll
        WHEN report.lane = :exit_lane THEN 0
        ELSE coalesce(traffic.toll, 0)
    END,
    CASE
        WHEN previous.segment_id % :segments <> report.seg THEN previous.paid + previous.toll
        ELSE coalesce(previous.paid, 0)
    END
FROM (
    SELECT
        vehicle_id,
        (xway * 2 + dir) * :segments + seg AS segment_id,
        seg,
        position_ft,
        lane,
        speed_mph
    FROM lr.position_report
    WHERE second = :second
) AS report
LEFT JOIN lr.ring_previous AS previous ON report.vehicle_id = previous.vehicle_id AND NOT previous.ended
LEFT JOIN lr.segment_toll AS traffic ON report.segment_id = traffic.segment_id;
