-- Find the journeys that requests ask for, each once: copies of an expressway ask for those of the original.
--
-- Spec    rule 12: east if Sinit < Send, else west; segment Send itself is not driven.
-- Reads   request (this cycle's input)
-- Writes  journey, anew
CREATE OR REPLACE TABLE lr.journey AS
SELECT
    row_number() OVER () AS journey_id,
    xway,
    from_seg,
    to_seg,
    day_of_week,
    minute_of_day,
    lr.segment_id(xway, if(from_seg < to_seg, lr.east(), lr.west()), from_seg) AS segment_id,
    sign(to_seg - from_seg) AS step,
    abs(to_seg - from_seg) AS segments,
    (day_of_week - 1)::integer * lr.day_minutes() + minute_of_day - 1 AS minute_of_week
FROM (
    SELECT DISTINCT xway, from_seg, to_seg, day_of_week, minute_of_day
    FROM request
    WHERE kind = lr.travel_time()
) AS asked;
