-- Tell each vehicle that entered a segment what it costs.
--
-- Spec    rule 5: toll notification, due 5 s after the report.
-- Reads   movement
SELECT
    vehicle_id,
    second,
    lav,
    toll
FROM lr.movement
WHERE crossed;
