-- Choose the vehicles that ask for their balance; what they have paid on their way is looked up.
--
-- Spec    rule 10.
-- Reads   request
-- Writes  sought_vehicle, anew; clears sighting
DELETE FROM lr.sighting;

DELETE FROM lr.sought_vehicle;

INSERT INTO lr.sought_vehicle (vehicle_id)
SELECT DISTINCT vehicle_id
FROM lr.request
WHERE kind = :balance;
