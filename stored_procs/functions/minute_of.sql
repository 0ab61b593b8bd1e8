-- lr.minute_of(second): the specification's M(t); the first minute is 1.
CREATE OR REPLACE FUNCTION lr.minute_of(p_second integer)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT p_second / lr.minute_s() + 1
$$;
