-- What a segment costs in the minute that begins, and where the nearest accident ahead is.
--
-- Spec    rules 3, 4 and 7: LAV over the five minutes before, cars and accidents of the minute before; east counts up,
--         west down, and no segment lies beyond 0 or 99.
-- Reads   segment_minute, accident
-- Writes  segment_toll, anew
CREATE OR REPLACE TABLE lr.segment_toll AS
WITH traffic AS (
    SELECT
        segment_id,
        (lr.floor_of(sum(average_mph)::hugeint // count(*)))::smallint AS lav,
        coalesce(max(cars) FILTER (WHERE minute = lr.minute()), 0) AS cars
    FROM lr.segment_minute
    GROUP BY segment_id
),

warned AS (
    SELECT
        segment_id AS accident_id,
        distance,
        segment_id + CASE lr.road_id(segment_id) % 2 WHEN lr.east() THEN -distance ELSE distance END AS segment_id
    FROM lr.accident
    CROSS JOIN range(lr.alert_segments() + 1) AS downstream (distance)
),

warning AS (
    SELECT segment_id, lr.seg_of(arg_min(accident_id, distance))::smallint AS accident_seg
    FROM warned
    WHERE lr.road_id(segment_id) = lr.road_id(accident_id) AND segment_id >= 0
    GROUP BY segment_id
)

SELECT
    coalesce(traffic.segment_id, warning.segment_id)::integer AS segment_id,
    coalesce(traffic.lav, lr.no_lav())::smallint AS lav,
    lr.toll_for(
        coalesce(traffic.cars, 0), coalesce(traffic.lav, lr.no_lav()), warning.accident_seg IS NOT NULL
    )::bigint AS toll,
    warning.accident_seg
FROM traffic
FULL JOIN warning ON warning.segment_id = traffic.segment_id;
