-- lr.cut_stops(minute): end a stop where its car reported again before 30 s were over.
--
-- Spec    rule 6: a car stays stopped until its next report says otherwise.
-- Reads   stopped_car, irregular_vehicle, the other workers' vehicle, the ring of every worker
-- Writes  stopped_car
-- Called  by lr.close_minute.
CREATE OR REPLACE PROCEDURE lr.cut_stops(p_minute integer)
LANGUAGE plpgsql
AS $procedure$
DECLARE
    v_cars CONSTANT integer [] := lr.crowded_cars(p_minute);
    v_schema text;
    v_here boolean;
    v_vehicles integer [];
BEGIN
    FOR v_schema, v_here IN SELECT schema_name, here FROM lr.worker LOOP
        EXECUTE format(
            'SELECT array_agg(vehicle_id) FROM unnest($1) AS car (vehicle_id) INNER JOIN %I.%I USING (vehicle_id)',
            v_schema, CASE WHEN v_here THEN 'irregular_vehicle' ELSE 'vehicle' END
        ) INTO v_vehicles USING v_cars;
        IF v_vehicles IS NOT NULL THEN
            WITH sighting AS MATERIALIZED (
                SELECT vehicle_id, report_second
                FROM lr.sightings(
                    v_vehicles,
                    -- A stop that reaches into the minute began up to 29 s before it.
                    (p_minute - 1) * lr.minute_s() - lr.report_period_s() + 1,
                    p_minute * lr.minute_s() - 1,
                    v_schema
                )
                WHERE NOT ended
            )

            UPDATE lr.stopped_car AS stop
            SET until_second = least(
                stop.until_second, (
                    SELECT min(sighting.report_second) - 1
                    FROM sighting
                    WHERE sighting.vehicle_id = stop.vehicle_id AND sighting.report_second > stop.from_second
                )
            )
            WHERE stop.vehicle_id = ANY(v_vehicles);
        END IF;
    END LOOP;
END
$procedure$;
