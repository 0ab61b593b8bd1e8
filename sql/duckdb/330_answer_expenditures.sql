-- Answer the requests for what a vehicle spent on one expressway on one day.
--
-- Spec    rule 11, daily expenditure, due 10 s after the request; no such row means 0.
-- Reads   request (this cycle's input), lr_history.toll_history
-- Gives   the answers
WITH asked AS (
    SELECT second, query_id, vehicle_id, day, xway
    FROM request
    WHERE kind = lr.expenditure()
),

-- Only an inner join lets the scan skip what no request asks for.
paid AS (
    SELECT history.vehicle_id, history.day, history.xway, history.tolls
    FROM lr_history.toll_history AS history
    INNER JOIN (SELECT DISTINCT vehicle_id FROM asked) AS vehicle ON vehicle.vehicle_id = history.vehicle_id
)

SELECT asked.second, asked.query_id, coalesce(paid.tolls, 0)::bigint AS tolls
FROM asked
LEFT JOIN paid USING (vehicle_id, day, xway);
