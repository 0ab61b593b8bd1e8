-- Find vehicles with reports of two trips in the minute that is over: what a join cannot see is looked up for them.
--
-- Spec    rules 2 and 6.
-- Reads   trip_event; the ring's rows of the minute's last 30 s, in which each trip of the minute has one row: its
--         last report, or its end
-- Writes  irregular_vehicle
CREATE OR REPLACE TABLE lr.irregular_vehicle AS
SELECT vehicle_id
FROM lr.irregular_vehicle
UNION
SELECT vehicle_id
FROM lr.ring_half_minute
WHERE vehicle_id IN (
    SELECT event.vehicle_id
    FROM lr.trip_event AS event
    WHERE event.change > 0 AND event.second >= (lr.minute() - 1) * lr.minute_s()
)
GROUP BY vehicle_id
HAVING count(*) > 1;
