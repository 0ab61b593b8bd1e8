-- lr.crowded_cars(minute): the cars that stood where another one did; few, where many stand in a jam.
--
-- Spec    rule 6: only these can be in an accident of the minute.
-- Reads   stopped_car
-- Called  by lr.cut_stops, lr.detect_accidents.
CREATE OR REPLACE FUNCTION lr.crowded_cars(p_minute integer)
RETURNS integer[]
LANGUAGE sql STABLE
-- Few stops in one minute, very many in the next: a plan that was made for few would compare each with each.
SET plan_cache_mode = force_custom_plan
AS $$
    SELECT coalesce(array_agg(DISTINCT vehicle_id), '{}')
    FROM lr.stopped_car
    INNER JOIN (
        SELECT road_id, lane, position_ft
        FROM lr.stopped_car
        WHERE until_second >= (p_minute - 1) * lr.minute_s()
        GROUP BY road_id, lane, position_ft
        HAVING min(vehicle_id) < max(vehicle_id)
    ) AS place USING (road_id, lane, position_ft)
$$;
