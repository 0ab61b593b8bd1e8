-- Find a walk that has come to an hour that was not looked up, if there is one.
--
-- Reads   walk
SELECT journey_id
FROM lr.walk
WHERE segments_left > 0
    AND minute_of_week % lr.hour_minutes() + lr.floor_of(travel_minutes) >= lr.journey_hours() * lr.hour_minutes()
LIMIT 1;
