-- Find a walk that has come to an hour that was not looked up, if there is one.
--
-- Reads   walk
SELECT journey_id
FROM lr.walk
WHERE driven < segments
    AND (minute_of_week % lr.hour_minutes() + lr.floor_of(travel_minutes)) // lr.hour_minutes()
    > lr.last_hour(minute_of_week, driven, lr.pace())
LIMIT 1;
