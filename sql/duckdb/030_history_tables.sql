-- Database lr_history, in memory: the data set's ten weeks of history, in the form in which requests look things up.
CREATE TABLE lr_history.toll_history (vehicle_id integer, day smallint, xway smallint, tolls integer);

-- Sums over the history days of a day of the week, of one segment and the 60 minutes of an hour; a minute without
-- history is NULL.  A mean is a sum divided by days.
CREATE TABLE lr_history.segment_hour (
    block_id integer,  -- lr.block_id(segment_id, minute_of_week)
    days smallint[],
    lav_sums bigint[],
    cars_sums bigint[]
);
