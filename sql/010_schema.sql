-- Schema lr: everything that a run writes.  Every install drops it and builds it again.
CREATE SCHEMA lr;
COMMENT ON SCHEMA lr IS 'Linear Road: input, state and answers of one run; rebuilt by every install';
