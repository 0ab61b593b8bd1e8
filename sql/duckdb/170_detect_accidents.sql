-- Find where enough cars stood at one place at once in a minute that is over.
--
-- Spec    rule 6: Acc_in_Seg.
-- Reads   stopped_car
-- Writes  accident, anew
CREATE OR REPLACE TABLE lr.accident AS
-- In a jam many stand still, but hardly ever two at one place.
WITH crowded AS (
    SELECT stop.vehicle_id, stop.road_id, stop.lane, stop.position_ft, stop.from_second, stop.until_second
    FROM lr.stopped_car AS stop
    INNER JOIN (
        SELECT road_id, lane, position_ft
        FROM lr.stopped_car
        GROUP BY road_id, lane, position_ft
        HAVING min(vehicle_id) < max(vehicle_id)
    ) AS place USING (road_id, lane, position_ft)
),

-- The most cars stand at a place when one of them has just stopped there, or when the minute begins.
moment AS (
    SELECT DISTINCT road_id, lane, position_ft, greatest(from_second, (lr.minute() - 1) * lr.minute_s()) AS second
    FROM crowded
)

SELECT DISTINCT road_id * lr.segments() + position_ft // lr.segment_ft() AS segment_id
FROM moment
INNER JOIN crowded AS car USING (road_id, lane, position_ft)
WHERE moment.second BETWEEN car.from_second AND car.until_second
GROUP BY road_id, lane, position_ft, moment.second
HAVING count(DISTINCT car.vehicle_id) >= lr.accident_vehicles();
