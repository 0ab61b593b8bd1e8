-- lr.take_reports(): all that the tuples of a cycle mean, when the COPY of its position reports ends.
--
-- Spec    rules 1, 2, 5, 6 and 8 to 12, by the polling engine's own steps; a balance needs the reports of its second,
--         so requests are loaded first and answered here.
-- Reads   arrived, the rows that were just inserted, which has its name in this function only; request; cycle, for the
--         seconds that they cover
-- Writes  what lr.advance_vehicles and lr.conclude_cycle write
-- Called  as statement trigger on position_report, also for a COPY without rows: trips may end.
CREATE OR REPLACE FUNCTION lr.take_reports()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_step_at CONSTANT timestamp with time zone := clock_timestamp();
    v_from_second integer;
    v_until_second integer;
BEGIN
    SELECT from_second, until_second INTO v_from_second, v_until_second
    FROM lr.cycle ORDER BY from_second DESC LIMIT 1;
    FOR v_second IN v_from_second..v_until_second LOOP
        EXECUTE format('TRUNCATE lr.%I', lr.ring_table(v_second));
        EXECUTE lr.advance_statement(v_second, 'arrived') USING v_second;
    END LOOP;
    CALL lr.conclude_cycle(v_from_second, v_until_second, v_step_at);
    RETURN NULL;
END
$function$;

CREATE TRIGGER take_reports AFTER INSERT ON lr.position_report
REFERENCING NEW TABLE AS arrived
FOR EACH STATEMENT EXECUTE FUNCTION lr.take_reports();
