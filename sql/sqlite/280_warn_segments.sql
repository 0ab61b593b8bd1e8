-- Where the nearest accident ahead is, in the minute that begins; such a segment costs nothing.
--
-- Spec    rules 4, 7 and 8: 0 to 4 segments downstream; east counts up, west down, and no segment lies beyond 0 or 99.
-- Reads   accident
-- Writes  segment_toll
INSERT INTO lr.segment_toll (segment_id, lav, toll, accident_seg)
WITH RECURSIVE ahead (distance) AS (
    SELECT 0
    UNION ALL
    SELECT distance + 1
    FROM ahead
    WHERE distance < :alert_segments
),

warned AS (
    SELECT
        accident.segment_id AS accident_id,
        ahead.distance,
        accident.segment_id
        + CASE accident.segment_id / :segments % 2 WHEN :east THEN -1 ELSE 1 END * ahead.distance AS segment_id
    FROM lr.accident
    CROSS JOIN ahead
    WHERE accident.minute = :minute
),

-- Beside a minimum, a column has its value in the row of the minimum.
nearest AS (
    SELECT
        segment_id,
        accident_id,
        min(distance) AS distance
    FROM warned
    WHERE segment_id >= 0 AND segment_id / :segments = accident_id / :segments
    GROUP BY segment_id
)

SELECT
    segment_id,
    :no_lav,
    0,
    accident_id % :segments
FROM nearest
WHERE TRUE
ON CONFLICT (segment_id) DO UPDATE SET toll = 0, accident_seg = excluded.accident_seg;
