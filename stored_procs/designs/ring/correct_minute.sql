-- lr.correct_minute(minute): count irregular vehicles once, at the average of all their reports from a segment.
--
-- Spec    rule 2, for vehicles that reported from a segment twice in a minute and not 30 s apart.
-- Reads   irregular_vehicle, the ring's tables of the minute
-- Writes  segment_tally, the difference to what lr.tally_segments counted
-- Called  by lr.close_minute.
CREATE OR REPLACE PROCEDURE lr.correct_minute(p_minute integer)
LANGUAGE plpgsql
AS $procedure$
DECLARE
    v_vehicles integer [] := ARRAY(SELECT vehicle_id FROM lr.irregular_vehicle);
BEGIN
    IF v_vehicles <> '{}' THEN
        INSERT INTO lr.segment_tally (segment_id, cars, speed_sum)
        SELECT
            segment_id,
            1 - count(*) FILTER (WHERE counted),
            lr.exact(2 * sum(speed_mph)) / count(*) - sum(tally)
        FROM lr.worker
        CROSS JOIN LATERAL lr.sightings(
            v_vehicles, (p_minute - 1) * lr.minute_s(), p_minute * lr.minute_s() - 1, worker.schema_name
        )
        WHERE worker.here AND NOT ended
        GROUP BY vehicle_id, segment_id;
    END IF;
END
$procedure$;
