-- End a stop where its car reported again before 30 s were over; drop the stops that ended before the minute.
--
-- Spec    rule 6: a car stays stopped until its next report says otherwise.
-- Reads   sighting
-- Writes  stopped_car
CREATE OR REPLACE TABLE lr.stopped_car AS
SELECT
    stop.vehicle_id,
    stop.road_id,
    stop.lane,
    stop.position_ft,
    stop.from_second,
    least(stop.until_second, min(sighting.second) - 1)::smallint AS until_second
FROM lr.stopped_car AS stop
LEFT JOIN lr.sighting ON sighting.vehicle_id = stop.vehicle_id AND sighting.second > stop.from_second
WHERE stop.until_second >= (lr.minute() - 1) * lr.minute_s()
GROUP BY stop.vehicle_id, stop.road_id, stop.lane, stop.position_ft, stop.from_second, stop.until_second;
