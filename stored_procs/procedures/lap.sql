-- lr.lap(step_at, from_second, step): enter a step of a cycle in the ledger, and start the next one.
--
-- Writes  cycle_step; a step's name stands in the call of lr.lap that ends it, and nowhere else in a design
-- Called  by lr.answer_requests, lr.conclude_cycle, lr.open_cycle, lr.poll.
CREATE OR REPLACE PROCEDURE lr.lap(INOUT p_step_at timestamp with time zone, p_from_second integer, p_step text)
LANGUAGE plpgsql
AS $procedure$
DECLARE
    v_ended_at CONSTANT timestamp with time zone := clock_timestamp();
BEGIN
    INSERT INTO lr.cycle_step (from_second, step, started_at, ms)
    VALUES (p_from_second, p_step, p_step_at, 1000 * extract(EPOCH FROM v_ended_at - p_step_at));
    p_step_at := v_ended_at;
END
$procedure$;
