-- lr.sightings(vehicles, from_second, until_second, schema): what the ring still holds of some vehicles.
--
-- Reads   the ring's tables of these seconds, of one worker
-- Called  by lr.correct_minute, lr.cut_stops, lr.paid_by: for the rare vehicle whose reports are not 30 s apart, and to
--         find what a vehicle has paid on its way.
CREATE OR REPLACE FUNCTION lr.sightings(
    p_vehicles integer[], p_from_second integer, p_until_second integer, p_schema text
)
RETURNS TABLE (
    vehicle_id integer, report_second integer, segment_id integer, speed_mph smallint, tally smallint,
    counted boolean, ended boolean, paid bigint
)
LANGUAGE plpgsql STABLE
AS $procedure$
BEGIN
    FOR v_second IN p_from_second..p_until_second LOOP
        RETURN QUERY EXECUTE format($$
            SELECT vehicle_id, $2, segment_id, speed_mph, tally, counted, ended, paid
            FROM %I.%I
            WHERE vehicle_id = ANY($1)
        $$, p_schema, lr.ring_table(v_second)) USING p_vehicles, v_second;
    END LOOP;
END
$procedure$;
