-- Database lr_history, in memory: the data set's ten weeks of history, in the form in which requests look things up.
CREATE TABLE lr_history.toll_history (vehicle_id integer, day smallint, xway smallint, tolls integer);

-- Of one segment, the 60 minutes of an hour; a minute without history is NULL.
CREATE TABLE lr_history.segment_hour (
    block_id integer,  -- lr.block_id(segment_id, minute_of_week)
    cells bigint[]  -- lr.cell(days, lav_sum, cars_sum)
);
