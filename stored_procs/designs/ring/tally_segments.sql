-- lr.tally_segments(second): count the cars of one second and add up their speeds, per segment.
--
-- Spec    rule 2; a vehicle's second report from a segment in a minute counts no car and makes its speed an average.
-- Reads   the ring's table of this second
-- Writes  segment_tally
-- Called  by lr.conclude_cycle, for each second.
CREATE OR REPLACE PROCEDURE lr.tally_segments(p_second integer)
LANGUAGE plpgsql
AS $procedure$
BEGIN
    EXECUTE format($$
        INSERT INTO lr.segment_tally (segment_id, cars, speed_sum)
        SELECT segment_id, count(*) FILTER (WHERE counted), sum(tally)
        FROM lr.%I
        WHERE NOT ended
        GROUP BY segment_id
    $$, lr.ring_table(p_second));
END
$procedure$;
