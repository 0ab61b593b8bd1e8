-- lr.note_movements(second): set aside the few reports of a second that mean something beyond the statistics.
--
-- Reads   the ring's table of this second
-- Writes  movement
-- Called  by lr.conclude_cycle, for each second; what follows in the cycle reads movement and not the ring.
CREATE OR REPLACE PROCEDURE lr.note_movements(p_second integer)
LANGUAGE plpgsql
AS $procedure$
BEGIN
    EXECUTE format($$
        INSERT INTO lr.movement (
            report_second, vehicle_id, segment_id, position_ft, lane, lav, stop_reports,
            started, ended, crossed, toll, paid
        )
        SELECT
            $1, vehicle_id, segment_id, position_ft, lane, lav, stop_reports,
            started, ended, crossed, toll, paid
        FROM lr.%I
        WHERE started OR ended OR crossed OR stop_reports = $2
    $$, lr.ring_table(p_second)) USING p_second, lr.stop_reports();
END
$procedure$;
