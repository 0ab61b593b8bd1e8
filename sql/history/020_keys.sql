-- The keys of the history's tables, built once they are full, which is ten times as fast as before.
--
-- Writes  lr_history_new
-- Called  by lrb load, after the COPYs.
SET maintenance_work_mem = '1GB';
ALTER TABLE lr_history_new.toll_history ADD PRIMARY KEY (vehicle_id, day, xway);

-- A journey goes on by about a segment a minute, so its rows lie close together.
ALTER TABLE lr_history_new.segment_average ADD PRIMARY KEY (xway, dir, day_of_week, minute, seg);

ANALYZE lr_history_new.toll_history, lr_history_new.segment_average;
