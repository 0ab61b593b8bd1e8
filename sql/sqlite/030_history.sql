-- Database lr_history, in memory: the data set's ten weeks of history.
--
-- Spec    rules 11 and 12.
CREATE TABLE lr_history.toll_history (
    vehicle_id integer NOT NULL,
    day integer NOT NULL,
    xway integer NOT NULL,
    tolls integer NOT NULL,
    PRIMARY KEY (vehicle_id, day, xway)
) WITHOUT ROWID;

-- Sums over the history days of a day of the week; a mean is a sum divided by days.
CREATE TABLE lr_history.segment_average (
    segment_id integer NOT NULL,
    minute_of_week integer NOT NULL,  -- counted from 0
    days integer NOT NULL,
    lav_sum integer NOT NULL,
    cars_sum integer NOT NULL,
    PRIMARY KEY (segment_id, minute_of_week)
) WITHOUT ROWID;
