-- lr.answer_expenditures(): answer the requests for what a vehicle spent on one expressway on one day.
--
-- Spec    rule 11, daily expenditure, due 10 s after the request; no such row means 0.
-- Reads   request, lr_history.toll_history
-- Writes  daily_expenditure
-- Called  by lr.answer_requests, once for all seconds of the cycle.
CREATE OR REPLACE PROCEDURE lr.answer_expenditures()
LANGUAGE sql
AS $$
    INSERT INTO lr.daily_expenditure (request_second, query_id, tolls)
    SELECT request.request_second, request.query_id, coalesce(history.tolls, 0)
    FROM lr.request
    LEFT JOIN lr_history.toll_history AS history USING (vehicle_id, day, xway)
    WHERE request.kind = lr.expenditure_kind()
$$;
