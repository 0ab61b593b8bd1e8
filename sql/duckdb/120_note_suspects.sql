-- Add the cars that stopped in the minute; choose the vehicles whose reports of the minute must be looked up.
--
-- Spec    rule 2: two reports from a segment that are not 30 s apart; rule 6: a car is stopped for 30 s at a time, or
--         until its next report.
-- Reads   movement, irregular_vehicle
-- Writes  stopped_car; suspect, anew
INSERT INTO lr.stopped_car (vehicle_id, road_id, lane, position_ft, from_second, until_second)
SELECT vehicle_id, lr.road_id(segment_id), lane, position_ft, second, second + lr.report_period_s() - 1
FROM lr.movement
WHERE stopped;

CREATE OR REPLACE TABLE lr.suspect AS
SELECT vehicle_id
FROM lr.irregular_vehicle
UNION
SELECT vehicle_id
FROM lr.movement
WHERE started AND vehicle_id IN (SELECT stopped_car.vehicle_id FROM lr.stopped_car);
