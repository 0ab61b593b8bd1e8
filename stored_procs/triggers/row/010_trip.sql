-- The row trigger's state: one row per trip, updated in place by each report.
--
-- A trip's reports lie exactly 30 s apart, so vehicle and second modulo 30 name it; a vehicle can be on two trips at
-- once.  Written and read by lr.take_report alone.  Of lr.vehicle, a row trigger uses the balance and nothing else.
CREATE UNLOGGED TABLE lr.trip (
    vehicle_id integer NOT NULL,
    phase smallint NOT NULL,  -- report_second modulo 30
    report_second smallint NOT NULL,  -- of the last report, and so on
    segment_id integer NOT NULL,
    position_ft integer NOT NULL,
    lane smallint NOT NULL,
    stop_reports smallint NOT NULL,  -- as in lr.ring
    toll bigint NOT NULL,  -- notified for the segment it is in, not yet assessed
    PRIMARY KEY (vehicle_id, phase)
) WITH (fillfactor = 50);
