-- lr.note_movements(second): set aside the few reports of a second that mean something beyond the statistics.
--
-- Reads   the ring's table of this second
-- Writes  movement
-- Called  by lr.poll, after lr.adopt_arrivals; what follows in the cycle reads movement and not the ring.
CREATE OR REPLACE PROCEDURE lr.note_movements(p_second integer)
LANGUAGE plpgsql
AS $procedure$
BEGIN
    EXECUTE format($$
        INSERT INTO lr.movement
        SELECT $1, ring.*
        FROM lr.%I AS ring
        WHERE started OR ended OR crossed OR stop_reports = 4
    $$, lr.ring_table(p_second)) USING p_second;
END
$procedure$;
