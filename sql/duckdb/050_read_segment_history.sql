-- Read SegmentHistory from the data set's Parquet files and add it up by day of the week.
--
-- Spec    rule 12; the day n days before today, which is day 1 of the week, has day of the week (0 - n) mod 7 + 1.
-- Writes  lr_history.segment_hour
INSERT INTO lr_history.segment_hour (block_id, cells)
WITH average AS (
    SELECT
        lr.segment_id(xway, dir, seg) AS segment_id,
        (lr.week_days() - day % lr.week_days()) % lr.week_days() * lr.day_minutes() + minute - 1 AS minute_of_week,
        count(*) AS days,
        sum(lav) AS lav_sum,
        sum(cars) AS cars_sum
    FROM read_parquet(getvariable('files'))
    GROUP BY ALL
),

cell AS (
    SELECT
        lr.block_id(segment_id, minute_of_week) AS block_id,
        minute_of_week % lr.hour_minutes() AS minute,
        lr.cell(days, lav_sum, cars_sum) AS cell
    FROM average
),

place AS (
    SELECT block.block_id, minute_of_hour.minute
    FROM (SELECT DISTINCT block_id FROM cell) AS block
    CROSS JOIN range(lr.hour_minutes()) AS minute_of_hour (minute)
)

SELECT place.block_id, list(cell.cell ORDER BY place.minute)
FROM place
LEFT JOIN cell USING (block_id, minute)
GROUP BY place.block_id
ORDER BY place.block_id;
