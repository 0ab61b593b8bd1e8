-- Warn each vehicle that entered a segment with an accident ahead.
--
-- Spec    rule 8: accident alert, due 5 s after the report.
-- Reads   movement, segment_toll
SELECT
    movement.second,
    movement.vehicle_id,
    traffic.accident_seg
FROM lr.movement
INNER JOIN lr.segment_toll AS traffic ON movement.segment_id = traffic.segment_id
WHERE movement.crossed AND traffic.accident_seg IS NOT NULL;
