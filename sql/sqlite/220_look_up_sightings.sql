-- Look up what the ring holds of the vehicles that are sought, in one second.
--
-- Reads   sought_vehicle, the ring's table of this second
-- Writes  sighting
INSERT INTO lr.sighting (vehicle_id, second, segment_id, speed_mph, tally, counted, ended, paid)
SELECT
    vehicle_id,
    :second,
    segment_id,
    speed_mph,
    tally,
    counted,
    ended,
    paid
FROM lr.ring_now
WHERE vehicle_id IN (SELECT sought.vehicle_id FROM lr.sought_vehicle AS sought);
