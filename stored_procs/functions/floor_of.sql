-- lr.floor_of(value): the floor of a sum of quotients made with lr.exact.
CREATE OR REPLACE FUNCTION lr.floor_of(p_value numeric)
RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT floor(p_value + 1e-30)
$$;
