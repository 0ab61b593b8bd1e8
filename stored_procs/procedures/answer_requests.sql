-- lr.answer_requests(from_second, until_second, step_at): answer a cycle's requests, when its reports are done.
--
-- Spec    rules 10 to 12.
-- Reads   request, worker
-- Writes  the three tables of their answers, and the ledger; the step began at step_at
-- Called  by lr.conclude_cycle, lr.poll.
CREATE OR REPLACE PROCEDURE lr.answer_requests(
    p_from_second integer, p_until_second integer, p_step_at timestamp with time zone
)
LANGUAGE plpgsql
AS $procedure$
DECLARE
    v_asked CONSTANT boolean := EXISTS (SELECT FROM lr.request);
BEGIN
    -- Of several workers, all have to commit their reports first: the driver calls it then.
    IF v_asked AND NOT EXISTS (SELECT FROM lr.worker WHERE NOT here) THEN
        CALL lr.answer_balances(p_from_second, p_until_second);
    END IF;
    CALL lr.lap(p_step_at, p_from_second, 'balance');

    IF v_asked THEN
        CALL lr.answer_expenditures();
        CALL lr.answer_travel_times();
    END IF;
    CALL lr.lap(p_step_at, p_from_second, 'history');
END
$procedure$;
