-- lr.conclude_cycle(from_second, until_second, step_at): all that follows from the joins of a cycle's seconds.
--
-- Spec    rules 1, 2, 5, 6 and 8 to 12: what polling and the statement trigger have in common.
-- Reads   the ring's tables of these seconds, filled by the joins that began at step_at; request
-- Writes  segment_tally, movement, vehicle, stopped_car, the tables of answers, the ledger
-- Called  by lr.poll, lr.take_reports.
CREATE OR REPLACE PROCEDURE lr.conclude_cycle(
    p_from_second integer, p_until_second integer, p_step_at timestamp with time zone
)
LANGUAGE plpgsql
AS $procedure$
BEGIN
    FOR v_second IN p_from_second..p_until_second LOOP
        CALL lr.adopt_arrivals(v_second);
    END LOOP;
    CALL lr.lap(p_step_at, p_from_second, 'advance');

    FOR v_second IN p_from_second..p_until_second LOOP
        CALL lr.tally_segments(v_second);
    END LOOP;
    CALL lr.lap(p_step_at, p_from_second, 'tally');

    TRUNCATE lr.movement;
    FOR v_second IN p_from_second..p_until_second LOOP
        CALL lr.note_movements(v_second);
        CALL lr.track_trips(v_second);
    END LOOP;
    CALL lr.notify_tolls();
    CALL lr.alert_vehicles();
    CALL lr.note_stops();
    CALL lr.lap(p_step_at, p_from_second, 'notify');

    CALL lr.answer_requests(p_from_second, p_until_second, p_step_at);
END
$procedure$;
