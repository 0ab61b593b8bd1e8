-- lr.lap(step_at, step_ms): add the time since step_at to a step's milliseconds, and start the next one.
--
-- Called  by lr.poll.
CREATE OR REPLACE PROCEDURE lr.lap(INOUT p_step_at timestamp with time zone, INOUT p_step_ms real)
LANGUAGE plpgsql
AS $procedure$
BEGIN
    p_step_ms := p_step_ms + 1000 * extract(EPOCH FROM clock_timestamp() - p_step_at);
    p_step_at := clock_timestamp();
END
$procedure$;
