-- lr.take_reports(): all that the position reports of a cycle mean, when their COPY ends.
--
-- Spec    rules 1, 5, 6, 8 and 9, by the polling engine's own steps.
-- Reads   arrived, the rows that were just inserted; cycle, for the seconds that they cover
-- Writes  what lr.poll writes, but for the answers to requests
-- Called  as statement trigger on position_report, also for a COPY without rows: trips may end.
CREATE OR REPLACE FUNCTION lr.take_reports()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_cycle lr.cycle;
    v_step_at timestamp with time zone := clock_timestamp();
BEGIN
    SELECT * INTO v_cycle FROM lr.cycle ORDER BY from_second DESC LIMIT 1;
    FOR v_second IN v_cycle.from_second..v_cycle.until_second LOOP
        EXECUTE format('TRUNCATE lr.%I', lr.ring_table(v_second));
        EXECUTE lr.advance_statement(v_second, 'arrived') USING v_second;
        CALL lr.adopt_arrivals(v_second);
        CALL lr.lap(v_step_at, v_cycle.advance_ms);
        CALL lr.tally_segments(v_second);
        CALL lr.lap(v_step_at, v_cycle.tally_ms);
        CALL lr.note_movements(v_second);
        CALL lr.track_trips(v_second);
        CALL lr.lap(v_step_at, v_cycle.notify_ms);
    END LOOP;
    CALL lr.notify_tolls();
    CALL lr.alert_vehicles();
    CALL lr.note_stops();
    CALL lr.lap(v_step_at, v_cycle.notify_ms);
    UPDATE lr.cycle
    SET advance_ms = v_cycle.advance_ms, tally_ms = v_cycle.tally_ms, notify_ms = v_cycle.notify_ms
    WHERE from_second = v_cycle.from_second;
    RETURN NULL;
END
$function$;

CREATE TRIGGER take_reports AFTER INSERT ON lr.position_report
REFERENCING NEW TABLE AS arrived
FOR EACH STATEMENT EXECUTE FUNCTION lr.take_reports();
