-- lr.seg_of(segment_id): the specification's Seg, 0 to 99.
CREATE OR REPLACE FUNCTION lr.seg_of(p_segment_id integer)
RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (p_segment_id % lr.segments())::smallint
$$;
