-- Enter trips that begin, and trips that ended with what was paid on them.
--
-- Spec    rules 1 and 10: an account adds up all trips of a vehicle.
-- Reads   the ring's table of this cycle
-- Writes  trip_event
INSERT INTO lr.trip_event (vehicle_id, second, change, paid)
SELECT vehicle_id, second, started::smallint - ended::smallint, if(ended, paid, 0)
FROM lr.ring_now
WHERE started OR ended;
