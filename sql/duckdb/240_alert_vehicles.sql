-- Warn each vehicle that entered a segment with an accident ahead.
--
-- Spec    rule 8: accident alert, due 5 s after the report.
-- Reads   ring_now
-- Writes  accident_alert, anew
CREATE OR REPLACE TABLE lr.accident_alert AS
SELECT second, vehicle_id, accident_seg AS seg
FROM lr.ring_now
WHERE crossed AND accident_seg IS NOT NULL;
