-- Answer the requests for what a vehicle spent on one expressway on one day.
--
-- Spec    rule 11, daily expenditure, due 10 s after the request; no such row means 0.
-- Reads   request, lr_history.toll_history
SELECT
    request.second,
    request.query_id,
    coalesce(history.tolls, 0)
FROM lr.request
LEFT JOIN lr_history.toll_history AS history
    ON
        request.vehicle_id = history.vehicle_id
        AND request.day = history.day
        AND request.xway = history.xway
WHERE request.kind = :expenditure;
