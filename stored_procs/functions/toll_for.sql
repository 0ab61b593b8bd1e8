-- lr.toll_for(cars, lav, accident_ahead): rule 4, the toll for entering a segment.
--
-- Reads   nothing; cars are those of the minute before, lav is that of the five minutes before.
-- Called  by lr.set_tolls, lr.traffic_at; by lr.journey, on means that are not whole.
CREATE OR REPLACE FUNCTION lr.toll_for(p_cars numeric, p_lav numeric, p_accident_ahead boolean)
RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN p_accident_ahead OR p_cars <= lr.free_cars() OR p_lav >= lr.free_flow_mph() THEN 0
        ELSE 2 * (p_cars - lr.free_cars()) * (p_cars - lr.free_cars())
    END
$$;
