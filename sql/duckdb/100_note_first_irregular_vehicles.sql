-- Find vehicles with reports of two trips in the minute that is over, where nobody was on the road before it.
--
-- All cars of a run that begins in mid-road are new in its first minute: to choose those that are new, as in
-- note_irregular_vehicles, would take three times as long as to count the trips of all.
--
-- Spec    rules 2 and 6.
-- Reads   the ring's rows of the minute's last 30 s, in which each trip of the minute has one row
-- Writes  irregular_vehicle
CREATE OR REPLACE TABLE lr.irregular_vehicle AS
SELECT vehicle_id
FROM lr.irregular_vehicle
UNION
SELECT vehicle_id
FROM lr.ring_half_minute
GROUP BY vehicle_id
HAVING count(*) > 1;
