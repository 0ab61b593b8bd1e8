-- lr.notify_tolls(): tell each vehicle that entered a segment what it costs.
--
-- Spec    rule 5: toll notification, due 5 s after the report.
-- Reads   movement
-- Writes  toll_notification
-- Called  by lr.conclude_cycle, once for all seconds of the cycle.
CREATE OR REPLACE PROCEDURE lr.notify_tolls()
LANGUAGE sql
AS $$
    INSERT INTO lr.toll_notification (vehicle_id, report_second, lav, toll)
    SELECT vehicle_id, report_second, lav, toll
    FROM lr.movement
    WHERE crossed
$$;
