-- Vehicle information as section 4.2 of the paper has it, one row per vehicle updated in place; and the reports so far.
--
-- A trip's reports lie exactly 30 s apart, and a vehicle can be on two trips at once; so it is one row per vehicle and
-- second modulo 30.  The row outlives its trip: the next one of that phase takes it over, and adds to `paid`.
-- Designs cursor and merge build on these tables.
CREATE UNLOGGED TABLE lr.vehicle (
    vehicle_id integer NOT NULL,
    phase smallint NOT NULL,  -- report_second modulo 30
    report_second smallint NOT NULL,  -- of the last report, and so on
    segment_id integer NOT NULL,
    position_ft integer NOT NULL,
    lane smallint NOT NULL,
    stop_reports smallint NOT NULL,  -- consecutive reports of the trip from this very place, 4 meaning 4 or more
    toll bigint NOT NULL,  -- notified for the segment it is in, not yet assessed
    charged bigint NOT NULL,  -- assessed by the last report
    paid bigint NOT NULL  -- assessed in this run, `charged` included
);

-- The position reports, from which the statistics of a minute are computed when it is over.
CREATE UNLOGGED TABLE lr.report_log (LIKE lr.position_report);
