-- Choose the irregular vehicles, whose reports of the minute that is over are looked up.
--
-- Spec    rules 2 and 6.
-- Reads   irregular_vehicle
-- Writes  sought_vehicle, anew; clears sighting
DELETE FROM lr.sighting;

DELETE FROM lr.sought_vehicle;

INSERT INTO lr.sought_vehicle (vehicle_id)
SELECT vehicle_id
FROM lr.irregular_vehicle;
