-- Remember which cars stand still on a travel lane.
--
-- Spec    rule 6: a car counts as stopped from its fourth report from one place, for 30 s at a time.
-- Reads   the ring's table of this cycle
-- Writes  stopped_car
INSERT INTO lr.stopped_car (vehicle_id, road_id, lane, position_ft, from_second, until_second)
SELECT vehicle_id, lr.road_id(segment_id), lane, position_ft, second, second + lr.report_period_s() - 1
FROM lr.ring_now
WHERE stop_reports = lr.stop_reports() AND NOT ended AND lane IN lr.travel_lanes();
