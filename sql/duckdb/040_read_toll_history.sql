-- Read TollHistory from the data set's Parquet files.
--
-- Spec    rule 11.
-- Writes  lr_history.toll_history
INSERT INTO lr_history.toll_history (vehicle_id, day, xway, tolls)
SELECT vehicle_id, day, xway, tolls
FROM read_parquet(getvariable('files'))
ORDER BY vehicle_id;
