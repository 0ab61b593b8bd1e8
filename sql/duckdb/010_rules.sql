-- Rules that several steps need, as macros.
--
-- In all files, the engine fills in the numbers of polling_baseline/spec.py (lr.minute_s(), ...), its own (lr.pace()),
-- and the rows of the ring that a step reads (lr.ring_now, lr.ring_previous, ...).

-- The minute that is over.  DuckDB knows it when it plans a statement, so it serves like a constant.
CREATE MACRO lr.minute() AS getvariable('minute')::integer;

-- One number for a segment of a road, so that statistics have one key; even roads lead east.
CREATE MACRO lr.segment_id(p_xway, p_dir, p_seg) AS (p_xway::integer * 2 + p_dir) * lr.segments() + p_seg;
CREATE MACRO lr.seg_of(p_segment_id) AS p_segment_id % lr.segments();
CREATE MACRO lr.road_id(p_segment_id) AS p_segment_id // lr.segments();

-- One number for a segment in one hour of the week; the minute of the week counts from 0, and may lie in the next week.
CREATE MACRO lr.week_minutes() AS lr.week_days() * lr.day_minutes();
CREATE MACRO lr.week_hours() AS lr.week_minutes() // lr.hour_minutes();
CREATE MACRO lr.block_id(p_segment_id, p_minute_of_week) AS
p_segment_id * lr.week_hours() + p_minute_of_week % lr.week_minutes() // lr.hour_minutes();

-- One number for what the history tells of a segment in one minute of the week: sums over so many days; a mean is a sum
-- divided by days.  There are at most ten days, so 2^35 is more than any sum of cars, and a sum of LAV below 2^24 fits.
CREATE MACRO lr.cell(p_days, p_lav_sum, p_cars_sum) AS
((p_lav_sum::hugeint * 16 + p_days) * 34359738368 + p_cars_sum)::bigint;
CREATE MACRO lr.lav_sum_of(p_cell) AS p_cell // 549755813888;
CREATE MACRO lr.days_of(p_cell) AS p_cell // 34359738368 % 16;
CREATE MACRO lr.cars_sum_of(p_cell) AS p_cell % 34359738368;

-- The last hour after a start, counted from 0, in which a segment can be reached at so many minutes for each before it.
CREATE MACRO lr.last_hour(p_minute_of_week, p_driven, p_pace) AS
(p_minute_of_week % lr.hour_minutes() + p_driven * p_pace) // lr.hour_minutes();

-- Rule 4, the toll for entering a segment: cars of the minute before, lav of the five minutes before.
CREATE MACRO lr.toll_for(p_cars, p_lav, p_accident_ahead) AS CASE
    WHEN p_accident_ahead OR p_cars <= lr.free_cars() OR p_lav >= lr.free_flow_mph() THEN 0
    ELSE 2 * (p_cars - lr.free_cars()) * (p_cars - lr.free_cars())
END;

-- Fractions as whole numbers of 1e-30, each too small by less than one of them.  Two averages that differ do so by far
-- more than 1e-27; lr.floor_of takes a sum for the whole number that it missed by less than that.
CREATE MACRO lr.unit() AS 1000000000000000000000000000000::hugeint;
CREATE MACRO lr.floor_of(p_value) AS (p_value + 1000) // lr.unit();

-- Tolls of a journey as whole numbers of 1 / 2520^2, exactly: a day of the week has one to ten days of history, and
-- 2520 is a multiple of them all.
CREATE MACRO lr.toll_unit() AS 2520::hugeint;
CREATE MACRO lr.journey_toll(p_cars_sum, p_lav_sum, p_days) AS lr.toll_unit() // p_days * (lr.toll_unit() // p_days)
* CASE
    WHEN p_cars_sum <= lr.free_cars() * p_days OR p_lav_sum >= lr.free_flow_mph() * p_days THEN 0::hugeint
    ELSE 2 * (p_cars_sum - lr.free_cars() * p_days)::hugeint * (p_cars_sum - lr.free_cars() * p_days)
END;
