-- Find where enough cars stood at one place at once in a minute that is over.
--
-- Spec    rule 6: Acc_in_Seg.
-- Reads   stopped_car
-- Writes  accident; drops the stops that end with the minute
--
-- The most cars stand at a place when one of them has just stopped there, or when the minute begins.
INSERT INTO lr.accident (minute, segment_id)
SELECT
    :minute,
    moment.road_id * :segments + moment.position_ft / :segment_ft
FROM (
    SELECT DISTINCT
        road_id,
        lane,
        position_ft,
        max(from_second, (:minute - 1) * :minute_s) AS second
    FROM lr.stopped_car
) AS moment
INNER JOIN lr.stopped_car AS car
    ON
        moment.road_id = car.road_id
        AND moment.lane = car.lane
        AND moment.position_ft = car.position_ft
WHERE moment.second BETWEEN car.from_second AND car.until_second
GROUP BY moment.road_id, moment.lane, moment.position_ft, moment.second
HAVING count(DISTINCT car.vehicle_id) >= :accident_vehicles
ON CONFLICT (minute, segment_id) DO NOTHING;

DELETE FROM lr.stopped_car
WHERE until_second < :minute * :minute_s;
