-- lr.note_stops(): remember which cars stand still on a travel lane.
--
-- Spec    rule 6: a car counts as stopped from its fourth report from one place, for 30 s at a time.
-- Reads   movement
-- Writes  stopped_car
-- Called  by lr.conclude_cycle, once for all seconds of the cycle.
CREATE OR REPLACE PROCEDURE lr.note_stops()
LANGUAGE sql
AS $$
    INSERT INTO lr.stopped_car (vehicle_id, road_id, lane, position_ft, from_second, until_second)
    SELECT vehicle_id, lr.road_id(segment_id), lane, position_ft, report_second, report_second + lr.report_period_s() - 1
    FROM lr.movement
    WHERE stop_reports = lr.stop_reports() AND NOT ended AND lane = ANY(lr.travel_lanes())
$$;
