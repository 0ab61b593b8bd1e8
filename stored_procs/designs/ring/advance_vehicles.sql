-- lr.advance_vehicles(second): join the reports of one second with those of 30 s before.
--
-- Spec    rules 1, 5, 6 and 9: trips, segments entered, stops, tolls assessed.
-- Reads   position_report, the ring's table of 30 s before, segment_toll
-- Writes  the ring's table of this second
-- Called  by lr.poll, for each second in order, also for one without reports: trips may end in it.
CREATE OR REPLACE PROCEDURE lr.advance_vehicles(p_second integer)
LANGUAGE plpgsql
AS $procedure$
BEGIN
    EXECUTE format('TRUNCATE lr.%I', lr.ring_table(p_second));
    EXECUTE lr.advance_statement(p_second, 'lr.position_report') USING p_second;
END
$procedure$;
