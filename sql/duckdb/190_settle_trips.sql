-- Settle the trips whose end was seen in the minute that is over; begin the next minute without movements.
--
-- Spec    rule 10: an account adds up all trips of a vehicle.
-- Reads   movement
-- Writes  settled; clears movement
INSERT INTO lr.settled (vehicle_id, paid)
SELECT vehicle_id, paid
FROM lr.movement
WHERE ended;

CREATE OR REPLACE TABLE lr.movement AS
SELECT second, vehicle_id, segment_id, position_ft, lane, started, ended, stopped, paid
FROM lr.movement
LIMIT 0;
