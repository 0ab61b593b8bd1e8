-- lr.warnings(minute): the segments with an accident 0 to 4 segments downstream, and the nearest one's segment.
--
-- Spec    rules 7 and 8; east counts up, west down, and no segment lies beyond 0 or 99.
-- Reads   accident
-- Called  by lr.set_tolls, lr.traffic_at.
CREATE OR REPLACE FUNCTION lr.warnings(p_minute integer)
RETURNS TABLE (segment_id integer, accident_seg smallint)
LANGUAGE sql STABLE
AS $$
    SELECT DISTINCT ON (warned.segment_id)
        warned.segment_id,
        lr.seg_of(accident.segment_id)
    FROM lr.accident
    CROSS JOIN generate_series(0, lr.alert_segments()) AS distance
    CROSS JOIN LATERAL (
        SELECT accident.segment_id + CASE lr.road_id(accident.segment_id) % 2 WHEN lr.east() THEN -distance ELSE distance END
    ) AS warned (segment_id)
    WHERE accident.minute = p_minute AND lr.road_id(warned.segment_id) = lr.road_id(accident.segment_id)
        AND warned.segment_id >= 0
    ORDER BY warned.segment_id, distance
$$;
