-- lr_history_new: the history's tables, empty, beside the ones in use; what an earlier load left unfinished goes away.
--
-- Spec    daily expenditure (TollHistory) and travel time (SegmentHistory).
-- Writes  schema lr_history_new, which 030_swap.sql turns into lr_history.
-- Called  by lrb load, in one transaction.
DROP SCHEMA IF EXISTS lr_history_new CASCADE;
CREATE SCHEMA lr_history_new;

-- Nothing changes here after the load: no autovacuum may start during a run.
CREATE UNLOGGED TABLE lr_history_new.toll_history (
    vehicle_id integer NOT NULL,
    day smallint NOT NULL,
    xway smallint NOT NULL,
    tolls integer NOT NULL
) WITH (autovacuum_enabled = FALSE);

-- Sums over the history days of a day of the week, exact; a mean is a sum divided by days.
CREATE UNLOGGED TABLE lr_history_new.segment_average (
    xway smallint NOT NULL,
    dir smallint NOT NULL,
    day_of_week smallint NOT NULL,
    minute smallint NOT NULL,
    seg smallint NOT NULL,
    days smallint NOT NULL,
    lav_sum bigint NOT NULL,
    cars_sum bigint NOT NULL
) WITH (autovacuum_enabled = FALSE);

-- One row: the data set that the history comes from.
CREATE UNLOGGED TABLE lr_history_new.source (
    identity text NOT NULL,
    name text NOT NULL
);
