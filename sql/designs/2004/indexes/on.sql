-- Option --indexes on: a key for each vehicle, and the way to the reports of a minute.
ALTER TABLE lr.vehicle ADD PRIMARY KEY (vehicle_id, phase);
CREATE INDEX ON lr.report_log (report_second);
