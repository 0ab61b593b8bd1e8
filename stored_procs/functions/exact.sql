-- lr.exact(value): the value with 40 decimals, so that a quotient's error stays far below any gap that matters.
--
-- Averages are fractions with small denominators: two of them that differ do so by far more than 1e-30.  lr.floor_of
-- takes a sum of such quotients for the whole number that it missed by less than that.
CREATE OR REPLACE FUNCTION lr.exact(p_value numeric)
RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT p_value::numeric(80, 40)
$$;
