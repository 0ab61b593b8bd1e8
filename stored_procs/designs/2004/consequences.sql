-- lr.consequences(report, known, traffic): what one report means, given its vehicle's row and its segment's.
--
-- Spec    rules 1, 5, 6 and 9: trip, segment entered, stop, toll assessed.  `known` is the vehicle's row of the
--         report's phase, if there is one: it is of the same trip if it is 30 s old.  `traffic` is
--         the segment's row, if any.
-- Gives   whether the report enters a segment and is told so; how often the trip reported from this place, and whether
--         the car is stopped on a travel lane; the toll it now owes, and the one that is assessed by this report
-- Called  by lr.arrivals for all reports at once, by lr.poll for one; a plan has its expressions, and no call.
CREATE OR REPLACE FUNCTION lr.consequences(
    p_report lr.position_report, p_known lr.vehicle, p_traffic lr.segment_toll
)
RETURNS TABLE (crossed boolean, stop_reports smallint, stopped boolean, toll bigint, charged bigint)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT
        NOT trip.stays AND (p_report).lane <> lr.exit_lane(),
        trip.stop_reports::smallint,
        trip.stop_reports = lr.stop_reports() AND (p_report).lane = ANY(lr.travel_lanes()),
        CASE
            WHEN trip.stays THEN (p_known).toll
            WHEN (p_report).lane = lr.exit_lane() THEN 0
            ELSE coalesce((p_traffic).toll, 0)
        END,
        CASE WHEN trip.continues AND NOT trip.stays THEN (p_known).toll ELSE 0 END
    FROM (
        SELECT
            report.continues,
            report.continues AND lr.seg_of((p_known).segment_id) = (p_report).seg AS stays,
            CASE
                WHEN report.continues
                    AND (p_known).position_ft = (p_report).position_ft
                    AND (p_known).lane = (p_report).lane
                    AND lr.road_id((p_known).segment_id)
                    = lr.road_id(lr.segment_id((p_report).xway, (p_report).dir, (p_report).seg))
                    THEN least((p_known).stop_reports + 1, lr.stop_reports())
                ELSE 1
            END AS stop_reports
        FROM (
            SELECT
                coalesce((p_known).report_second = (p_report).report_second - lr.report_period_s(), FALSE) AS continues
        ) AS report
    ) AS trip
$$;
