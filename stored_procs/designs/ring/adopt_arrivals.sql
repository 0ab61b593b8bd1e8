-- lr.adopt_arrivals(second): continue the trips of vehicles that came from an expressway of another worker.
--
-- Spec    rule 1: a change of expressway does not end a trip.
-- Reads   the other workers' ring tables of 30 s before, committed by then: a cycle is shorter than 30 s
-- Writes  the ring's table of this second, the few rows concerned; what was paid before stays with the other worker
-- Called  by lr.conclude_cycle, for each second.
CREATE OR REPLACE PROCEDURE lr.adopt_arrivals(p_second integer)
LANGUAGE plpgsql
AS $procedure$
DECLARE
    v_schema text;
BEGIN
    FOR v_schema IN SELECT schema_name FROM lr.worker WHERE NOT here LOOP
        EXECUTE format($$
            UPDATE lr.%1$I AS arrival
            SET
                crossed = arrival.crossed AND lr.seg_of(previous.segment_id) <> lr.seg_of(arrival.segment_id),
                toll = CASE
                    WHEN lr.seg_of(previous.segment_id) = lr.seg_of(arrival.segment_id) THEN previous.toll
                    ELSE arrival.toll
                END,
                paid = CASE
                    WHEN lr.seg_of(previous.segment_id) <> lr.seg_of(arrival.segment_id) THEN previous.toll
                    ELSE 0
                END
            FROM %2$I.%3$I AS previous
            WHERE previous.vehicle_id = arrival.vehicle_id AND arrival.started AND NOT previous.ended
        $$, lr.ring_table(p_second), v_schema, lr.ring_table(p_second - lr.report_period_s()));
    END LOOP;
END
$procedure$;
