-- What an administrator of today gives to the tables of design 2004.
--
-- Half of each page is free, so the new version of a row lies beside the old one, no index is touched, and the next
-- visitor of the page clears it up.  What is left for the autovacuum is done early, often and without a pause.
ALTER TABLE lr.vehicle ADD PRIMARY KEY (vehicle_id, phase);
ALTER TABLE lr.vehicle SET (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0
);

-- Truncated each minute, and read once: neither an index nor a vacuum would pay.
ALTER TABLE lr.report_log SET (autovacuum_enabled = FALSE);
