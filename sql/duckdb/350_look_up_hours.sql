-- Look up what the history tells of the segments of all journeys, in the hours in which they may be reached.
--
-- Spec    rule 12; no segment is expected to take more than lr.pace() minutes.
--
-- Reads   journey, lr_history.segment_hour
-- Writes  journey_hour, anew
CREATE OR REPLACE TABLE lr.journey_hour AS
WITH block AS (
    SELECT DISTINCT lr.block_id(
        journey.segment_id + journey.step * driven.segments,
        journey.minute_of_week + passed.hours * lr.hour_minutes()
    )::integer AS block_id
    FROM lr.journey
    INNER JOIN range(lr.segments()) AS driven (segments) ON driven.segments < journey.segments
    INNER JOIN range(lr.week_minutes() // lr.hour_minutes()) AS passed (hours)
        ON passed.hours <= lr.last_hour(journey.minute_of_week, driven.segments, lr.pace())
)

SELECT hour.block_id, hour.days, hour.lav_sums, hour.cars_sums
FROM lr_history.segment_hour AS hour
INNER JOIN block ON block.block_id = hour.block_id;
