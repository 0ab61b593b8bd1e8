-- Enter trips that begin, settle trips that ended.
--
-- Spec    rules 1 and 10: an account adds up all trips of a vehicle.
-- Reads   ring_now
-- Writes  trip_begun, settled
INSERT INTO lr.trip_begun (vehicle_id)
SELECT vehicle_id
FROM lr.ring_now
WHERE started;

INSERT INTO lr.settled (vehicle_id, second, paid)
SELECT vehicle_id, second, paid
FROM lr.ring_now
WHERE ended AND paid > 0;
