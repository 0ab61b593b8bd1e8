-- lr.paid_by(vehicles, from_second, until_second, schema): the tolls that one worker has assessed to some vehicles.
--
-- Spec    rule 10: the trips that have ended, and those under way.
-- Gives   amounts that count for the seconds first_second to last_second, where these lie in the cycle
-- Reads   vehicle; the ring, for vehicles on their way
-- Called  by lr.answer_balances, when the worker has done the cycle from from_second until until_second.
CREATE OR REPLACE FUNCTION lr.paid_by(
    p_vehicles integer[], p_from_second integer, p_until_second integer, p_schema text
)
RETURNS TABLE (vehicle_id integer, first_second integer, last_second integer, amount bigint)
LANGUAGE plpgsql STABLE
AS $procedure$
DECLARE
    v_one_second CONSTANT boolean := p_from_second = p_until_second;
    v_under_way integer [];
    v_elsewhere integer [];
BEGIN
    -- A trip settled in this cycle ended 30 s before: all of it was assessed before any second of the cycle.
    RETURN QUERY EXECUTE format(
        'SELECT vehicle_id, 0, $2, balance FROM %I.vehicle WHERE vehicle_id = ANY($1)', p_schema
    ) USING p_vehicles, p_until_second;

    EXECUTE format(
        'SELECT array_agg(vehicle_id) FROM %I.vehicle WHERE vehicle_id = ANY($1) AND trips_begun > trips_ended', p_schema
    ) INTO v_under_way USING p_vehicles;
    IF v_under_way IS NULL THEN
        RETURN;
    END IF;

    -- A vehicle asks when it reports: its last report is mostly that of the second itself.
    IF v_one_second THEN
        EXECUTE format($$
            SELECT array_agg(vehicle_id)
            FROM %I.vehicle
            LEFT JOIN lr.sightings($1, $2, $2, $3) AS sighting USING (vehicle_id)
            WHERE vehicle.vehicle_id = ANY($1)
                AND vehicle.trips_begun - vehicle.trips_ended > (sighting.ended IS FALSE)::integer
        $$, p_schema) INTO v_elsewhere USING v_under_way, p_until_second, p_schema;
        RETURN QUERY
        SELECT sighting.vehicle_id, p_until_second, p_until_second, sighting.paid
        FROM lr.sightings(v_under_way, p_until_second, p_until_second, p_schema) AS sighting
        WHERE NOT sighting.ended;
        IF v_elsewhere IS NULL THEN
            RETURN;
        END IF;
        v_under_way := v_elsewhere;
    END IF;

    -- A trip that was settled within the cycle counts once.
    RETURN QUERY
    SELECT
        sighting.vehicle_id,
        CASE WHEN sighting.ended THEN 0 ELSE sighting.report_second END,
        sighting.report_second + CASE WHEN sighting.ended THEN -1 ELSE 29 END,
        CASE WHEN sighting.ended THEN -sighting.paid ELSE sighting.paid END
    FROM lr.sightings(
        v_under_way, p_from_second - 29, p_until_second - v_one_second::integer, p_schema
    ) AS sighting
    WHERE NOT sighting.ended OR sighting.report_second > p_from_second;
END
$procedure$;
