-- Enter trips that begin in a second, settle trips that ended.
--
-- Spec    rules 1 and 10: an account adds up all trips of a vehicle.
-- Reads   movement
-- Writes  vehicle; irregular_vehicle, for a trip that begins less than 60 s after another report of the vehicle
INSERT INTO lr.irregular_vehicle (vehicle_id)
SELECT movement.vehicle_id
FROM lr.movement
INNER JOIN lr.vehicle ON movement.vehicle_id = vehicle.vehicle_id
WHERE
    movement.second = :second AND movement.started
    AND (vehicle.trips_begun > vehicle.trips_ended OR vehicle.last_second > :second - :minute_s)
ON CONFLICT (vehicle_id) DO NOTHING;

INSERT INTO lr.vehicle (vehicle_id, trips_begun, trips_ended, balance)
SELECT
    vehicle_id,
    1,
    0,
    0
FROM lr.movement
WHERE second = :second AND started
ON CONFLICT (vehicle_id) DO UPDATE SET trips_begun = trips_begun + 1;

INSERT INTO lr.vehicle (vehicle_id, trips_begun, trips_ended, last_second, balance)
SELECT
    vehicle_id,
    0,
    1,
    :second - :report_period_s,
    paid
FROM lr.movement
WHERE second = :second AND ended
ON CONFLICT (vehicle_id) DO UPDATE SET
    trips_ended = trips_ended + 1,
    last_second = excluded.last_second,
    balance = balance + excluded.balance;
