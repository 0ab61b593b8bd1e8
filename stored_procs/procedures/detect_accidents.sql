-- lr.detect_accidents(minute): find where enough cars stood at one place at once in a minute that is over.
--
-- Spec    rule 6: Acc_in_Seg.
-- Reads   stopped_car; who reported again before the 30 s were over is no longer stopped there
-- Writes  accident; drops the stops that end with the minute
-- Called  by lr.close_minute.
CREATE OR REPLACE PROCEDURE lr.detect_accidents(p_minute integer)
LANGUAGE plpgsql
-- Few stops in one minute, very many in the next: a plan that was made for few would compare each with each.
SET plan_cache_mode = force_custom_plan
AS $procedure$
DECLARE
    v_from_second CONSTANT integer := (p_minute - 1) * lr.minute_s();
    v_until_second CONSTANT integer := p_minute * lr.minute_s() - 1;
    v_vehicles CONSTANT integer [] := lr.crowded_cars(p_minute);
BEGIN
    -- The most cars stand at a place when one of them has just stopped there, or when the minute begins.
    INSERT INTO lr.accident (minute, segment_id)
    SELECT DISTINCT p_minute, road_id * lr.segments() + position_ft / lr.segment_ft()
    FROM (
        SELECT DISTINCT road_id, lane, position_ft, greatest(from_second, v_from_second) AS second
        FROM lr.stopped_car
        WHERE vehicle_id = ANY(v_vehicles) AND from_second <= v_until_second
    ) AS moment
    INNER JOIN lr.stopped_car AS car USING (road_id, lane, position_ft)
    WHERE car.vehicle_id = ANY(v_vehicles) AND moment.second BETWEEN car.from_second AND car.until_second
    GROUP BY road_id, lane, position_ft, moment.second
    HAVING count(DISTINCT car.vehicle_id) >= lr.accident_vehicles();

    DELETE FROM lr.stopped_car
    WHERE until_second <= v_until_second;
END
$procedure$;
