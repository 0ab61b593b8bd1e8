-- lr.track_trips(second): enter trips that begin, settle trips that ended.
--
-- Spec    rules 1 and 10: an account adds up all trips of a vehicle.
-- Reads   movement
-- Writes  vehicle; irregular_vehicle, for a trip that begins less than 60 s after another report of the vehicle
-- Called  by lr.conclude_cycle, for each second in order.
CREATE OR REPLACE PROCEDURE lr.track_trips(p_second integer)
LANGUAGE sql
AS $$
    INSERT INTO lr.irregular_vehicle (vehicle_id)
    SELECT vehicle_id
    FROM lr.movement
    INNER JOIN lr.vehicle USING (vehicle_id)
    WHERE movement.report_second = p_second AND movement.started
        AND (vehicle.trips_begun > vehicle.trips_ended OR vehicle.last_second > p_second - lr.minute_s())
    ON CONFLICT (vehicle_id) DO NOTHING;

    INSERT INTO lr.vehicle AS known (vehicle_id, trips_begun, trips_ended, balance)
    SELECT vehicle_id, 1, 0, 0
    FROM lr.movement
    WHERE report_second = p_second AND started
    ON CONFLICT (vehicle_id) DO UPDATE SET trips_begun = known.trips_begun + 1;

    UPDATE lr.vehicle
    SET
        trips_ended = vehicle.trips_ended + 1,
        last_second = p_second - lr.report_period_s(),
        balance = vehicle.balance + movement.paid
    FROM lr.movement
    WHERE movement.report_second = p_second AND movement.ended AND movement.vehicle_id = vehicle.vehicle_id;
$$;
