-- lr.review_minute(): what the reports of a minute say together that none of them says alone.
--
-- Spec    rule 2, cars and speeds per segment; rule 6, a car is stopped until its next report, of whichever trip.
-- Reads   position_report, which holds the minute
-- Writes  segment_tally; stopped_car, the stops that another report ended
-- Called  by lr.begin_cycle, when the minute is over; a set costs less then than a row's share at each insert.
CREATE OR REPLACE PROCEDURE lr.review_minute()
LANGUAGE sql
AS $$
    INSERT INTO lr.segment_tally (segment_id, cars, speed_sum)
    SELECT segment_id, count(*), sum(twice_average)
    FROM (
        SELECT
            lr.segment_id(xway, dir, seg) AS segment_id,
            lr.exact(2 * sum(speed_mph)) / count(*) AS twice_average
        FROM lr.position_report
        GROUP BY vehicle_id, xway, dir, seg
    ) AS car
    GROUP BY segment_id;

    UPDATE lr.stopped_car AS stop
    SET until_second = again.report_second - 1
    FROM (
        SELECT stop.vehicle_id, stop.from_second, min(report.report_second) AS report_second
        FROM lr.stopped_car AS stop
        INNER JOIN lr.position_report AS report USING (vehicle_id)
        WHERE report.report_second > stop.from_second AND report.report_second <= stop.until_second
        GROUP BY stop.vehicle_id, stop.from_second
    ) AS again
    WHERE stop.vehicle_id = again.vehicle_id AND stop.from_second = again.from_second;
$$;
