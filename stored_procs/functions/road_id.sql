-- lr.road_id(segment_id): the expressway and direction that a segment belongs to; even numbers lead east.
CREATE OR REPLACE FUNCTION lr.road_id(p_segment_id integer)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT p_segment_id / lr.segments()
$$;
