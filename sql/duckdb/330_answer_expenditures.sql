-- Answer the requests for what a vehicle spent on one expressway on one day.
--
-- Spec    rule 11, daily expenditure, due 10 s after the request; no such row means 0.
-- Reads   request (this cycle's input), lr_history.toll_history
-- Writes  daily_expenditure, anew
CREATE OR REPLACE TABLE lr.daily_expenditure AS
SELECT request.second, request.query_id, coalesce(history.tolls, 0)::bigint AS tolls
FROM request
LEFT JOIN lr_history.toll_history AS history USING (vehicle_id, day, xway)
WHERE request.kind = lr.expenditure();
