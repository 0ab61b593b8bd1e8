-- lr.review_minute(minute, reports): what the reports of a minute say together that none of them says alone.
--
-- Spec    rule 2, cars and speeds per segment; rule 6, a car is stopped until its next report, of whichever trip.
-- Reads   `reports`, the name of a table that holds the minute's position reports and maybe others
-- Writes  segment_tally; stopped_car, the stops that another report ended
-- Called  by lr.begin_cycle, lr.close_minute, when the minute is over; a set costs less then than a row's share at
--         each report.
CREATE OR REPLACE PROCEDURE lr.review_minute(p_minute integer, p_reports text)
LANGUAGE plpgsql
AS $procedure$
DECLARE
    v_from_second CONSTANT integer := (p_minute - 1) * lr.minute_s();
    v_until_second CONSTANT integer := p_minute * lr.minute_s() - 1;
BEGIN
    EXECUTE format($$
        INSERT INTO lr.segment_tally (segment_id, cars, speed_sum)
        SELECT segment_id, count(*), sum(twice_average)
        FROM (
            SELECT
                lr.segment_id(xway, dir, seg) AS segment_id,
                lr.exact(2 * sum(speed_mph)) / count(*) AS twice_average
            FROM %s
            WHERE report_second BETWEEN $1 AND $2
            GROUP BY vehicle_id, xway, dir, seg
        ) AS car
        GROUP BY segment_id
    $$, p_reports) USING v_from_second, v_until_second;

    EXECUTE format($$
        UPDATE lr.stopped_car AS stop
        SET until_second = again.report_second - 1
        FROM (
            SELECT stop.vehicle_id, stop.from_second, min(report.report_second) AS report_second
            FROM lr.stopped_car AS stop
            INNER JOIN %s AS report USING (vehicle_id)
            WHERE report.report_second > stop.from_second AND report.report_second <= stop.until_second
                AND report.report_second BETWEEN $1 AND $2
            GROUP BY stop.vehicle_id, stop.from_second
        ) AS again
        WHERE stop.vehicle_id = again.vehicle_id AND stop.from_second = again.from_second
    $$, p_reports) USING v_from_second, v_until_second;
END
$procedure$;
