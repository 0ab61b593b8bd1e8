-- Look up all reports of the suspects in the minute that is over.
--
-- Reads   suspect; the ring's rows of the minute, or none if there is no suspect
-- Writes  sighting
CREATE OR REPLACE TABLE lr.sighting AS
SELECT second, vehicle_id, segment_id, speed_mph, tally, counted
FROM lr.ring_whole_minute
WHERE NOT ended AND vehicle_id IN (SELECT suspect.vehicle_id FROM lr.suspect);
