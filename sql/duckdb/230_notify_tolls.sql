-- Tell each vehicle that entered a segment what it costs.
--
-- Spec    rule 5: toll notification, due 5 s after the report.
-- Reads   ring_now
-- Writes  toll_notification, anew
CREATE OR REPLACE TABLE lr.toll_notification AS
SELECT vehicle_id, second, lav, toll
FROM lr.ring_now
WHERE crossed;
