-- Remember which cars stand still on a travel lane.
--
-- Spec    rule 6: a car counts as stopped from its fourth report from one place, for 30 s at a time.
-- Reads   movement
-- Writes  stopped_car
INSERT INTO lr.stopped_car (road_id, lane, position_ft, vehicle_id, from_second, until_second)
SELECT
    segment_id / :segments,
    lane,
    position_ft,
    vehicle_id,
    second,
    second + :report_period_s - 1
FROM lr.movement
WHERE stop_reports = :stop_reports AND NOT ended AND lane NOT IN (:entry_lane, :exit_lane);
