-- lr.alert_vehicles(): warn each vehicle that entered a segment with an accident ahead.
--
-- Spec    rule 8: accident alert, due 5 s after the report.
-- Reads   movement, segment_toll
-- Writes  accident_alert
-- Called  by lr.conclude_cycle, once for all seconds of the cycle.
CREATE OR REPLACE PROCEDURE lr.alert_vehicles()
LANGUAGE sql
AS $$
    INSERT INTO lr.accident_alert (report_second, vehicle_id, seg)
    SELECT movement.report_second, movement.vehicle_id, traffic.accident_seg
    FROM lr.movement
    INNER JOIN lr.segment_toll AS traffic USING (segment_id)
    WHERE movement.crossed AND traffic.accident_seg IS NOT NULL
$$;
