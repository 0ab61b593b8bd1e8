-- lr.segment_id(xway, dir, seg): one number for a segment of a road, so that statistics have one key.
CREATE OR REPLACE FUNCTION lr.segment_id(p_xway smallint, p_dir smallint, p_seg smallint)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (p_xway * 2 + p_dir) * lr.segments() + p_seg
$$;
