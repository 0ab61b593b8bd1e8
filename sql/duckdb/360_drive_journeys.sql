-- Walk from segment to segment, each at the minute of the week at which it would be reached, by the history's averages.
--
-- Spec    rule 12.  travel_minutes is a number of lr.unit(), toll one of 1 / lr.toll_unit()^2; a walk ends early where
--         there is no history, all stand, or the hours that were looked up are over.
-- Reads   journey, journey_hour
-- Writes  walk, anew: a row for each segment driven, and one before the first
CREATE OR REPLACE TABLE lr.walk AS
WITH RECURSIVE walk AS (
    SELECT
        journey_id,
        segment_id,
        step,
        segments,
        0 AS driven,
        minute_of_week,
        0::hugeint AS travel_minutes,
        0::hugeint AS toll
    FROM lr.journey
    UNION ALL
    SELECT
        journey_id,
        segment_id + step,
        step,
        segments,
        driven + 1,
        minute_of_week,
        travel_minutes + lr.hour_minutes() * days * lr.unit() // lav_sum,
        toll + lr.journey_toll(cars_sum, lav_sum, days)
    FROM (
        SELECT
            place.journey_id,
            place.segment_id,
            place.step,
            place.segments,
            place.driven,
            place.minute_of_week,
            place.travel_minutes,
            place.toll,
            hour.days[place.now % lr.hour_minutes() + 1] AS days,
            hour.lav_sums[place.now % lr.hour_minutes() + 1] AS lav_sum,
            hour.cars_sums[place.now % lr.hour_minutes() + 1] AS cars_sum
        FROM (
            SELECT
                journey_id,
                segment_id,
                step,
                segments,
                driven,
                minute_of_week,
                travel_minutes,
                toll,
                minute_of_week + lr.floor_of(travel_minutes)::integer AS now
            FROM walk
            WHERE driven < segments
        ) AS place
        INNER JOIN lr.journey_hour AS hour ON hour.block_id = lr.block_id(place.segment_id, place.now)
    ) AS reached
    WHERE lav_sum > 0
)

SELECT journey_id, segments, driven, minute_of_week, travel_minutes, toll
FROM walk;
