-- Choose the vehicles whose reports of the minute must be looked up, each one of them.
--
-- Spec    rule 2: two reports from a segment that are not 30 s apart; rule 6: a stop ends with the car's next report.
-- Reads   irregular_vehicle, trip_event, stopped_car
-- Writes  suspect, anew
CREATE OR REPLACE TABLE lr.suspect AS
SELECT vehicle_id
FROM lr.irregular_vehicle
UNION
SELECT vehicle_id
FROM lr.trip_event
WHERE change > 0 AND second >= (lr.minute() - 1) * lr.minute_s()
    AND vehicle_id IN (SELECT stopped_car.vehicle_id FROM lr.stopped_car);
