-- Look up what the history tells of the segments of all journeys, in the first hours after their start.
--
-- Reads   journey, lr_history.segment_hour
-- Writes  journey_hour, anew
CREATE OR REPLACE TABLE lr.journey_hour AS
SELECT block_id, days, lav_sums, cars_sums
FROM lr_history.segment_hour
WHERE block_id IN (
    SELECT lr.block_id(
        journey.segment_id + journey.step * driven.segments,
        journey.minute_of_week + passed.hours * lr.hour_minutes()
    )
    FROM lr.journey
    INNER JOIN range(lr.segments()) AS driven (segments) ON driven.segments < journey.segments
    CROSS JOIN range(lr.journey_hours()) AS passed (hours)
);
