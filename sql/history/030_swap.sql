-- The new history takes the place of the old one.
--
-- Writes  schema lr_history
-- Called  by lrb load, in one transaction, as its last step.
DROP SCHEMA IF EXISTS lr_history CASCADE;
ALTER SCHEMA lr_history_new RENAME TO lr_history;
