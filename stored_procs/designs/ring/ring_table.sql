-- lr.ring_table(second): the name of the ring's table for a second, without its schema.
--
-- Called  by lr.adopt_arrivals, lr.advance_statement, lr.advance_vehicles, lr.note_movements, lr.sightings,
--         lr.tally_segments, lr.take_reports.
CREATE OR REPLACE FUNCTION lr.ring_table(p_second integer)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT 'ring_' || to_char((p_second + lr.ring_seconds()) % lr.ring_seconds(), 'FM000')
$$;
