-- lr.detect_accidents(minute): find where two cars or more stood at one place at once in a minute that is over.
--
-- Spec    rule 6: Acc_in_Seg.
-- Reads   stopped_car, the ring of every worker (a stopped car that reported again before its 30 s were over)
-- Writes  accident; drops the stops that end with the minute
-- Called  by lr.close_minute.
CREATE OR REPLACE PROCEDURE lr.detect_accidents(p_minute integer)
LANGUAGE plpgsql
-- Few stops in one minute, very many in the next: a plan that was made for few would compare each with each.
SET plan_cache_mode = force_custom_plan
AS $procedure$
DECLARE
    v_from_second CONSTANT integer := p_minute * 60 - 60;
    v_until_second CONSTANT integer := p_minute * 60 - 1;
    -- Whoever stood where another car did: few, where many stand in a jam.
    v_vehicles CONSTANT integer [] := ARRAY(
        SELECT DISTINCT vehicle_id
        FROM lr.stopped_car
        INNER JOIN (
            SELECT road_id, lane, position_ft
            FROM lr.stopped_car
            WHERE until_second >= v_from_second
            GROUP BY road_id, lane, position_ft
            HAVING min(vehicle_id) < max(vehicle_id)
        ) AS place USING (road_id, lane, position_ft)
    );
BEGIN
    -- A stop that reaches into the minute began up to 29 s before it.
    CALL lr.cut_stops(v_vehicles, v_from_second - 29, v_until_second);

    INSERT INTO lr.accident (minute, segment_id)
    SELECT DISTINCT p_minute, this_car.road_id * 100 + this_car.position_ft / 5280
    FROM lr.stopped_car AS this_car
    INNER JOIN lr.stopped_car AS other_car USING (road_id, lane, position_ft)
    WHERE this_car.vehicle_id = ANY(v_vehicles)
        AND other_car.vehicle_id = ANY(v_vehicles)
        AND this_car.vehicle_id < other_car.vehicle_id
        AND greatest(this_car.from_second, other_car.from_second, v_from_second)
        <= least(this_car.until_second, other_car.until_second, v_until_second);

    DELETE FROM lr.stopped_car
    WHERE until_second <= v_until_second;
END
$procedure$;
