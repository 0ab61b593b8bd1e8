-- The input of one cycle, loaded by COPY and cleared when the next one begins.
--
-- Holds   the reports and requests of the seconds that one cycle covers, of this worker's expressways.
-- Written by the driver.          Read  by lr.advance_vehicles and the procedures that answer requests.
CREATE UNLOGGED TABLE lr.position_report (
    report_second smallint NOT NULL,
    vehicle_id integer NOT NULL,
    speed_mph smallint NOT NULL,
    xway smallint NOT NULL,
    lane smallint NOT NULL,
    dir smallint NOT NULL,
    seg smallint NOT NULL,
    position_ft integer NOT NULL
);

CREATE UNLOGGED TABLE lr.request (
    kind smallint NOT NULL,
    request_second smallint NOT NULL,
    vehicle_id integer NOT NULL,
    xway smallint NOT NULL,
    query_id bigint NOT NULL,
    from_seg smallint NOT NULL,
    to_seg smallint NOT NULL,
    day_of_week smallint NOT NULL,
    minute_of_day smallint NOT NULL,
    day smallint NOT NULL
);
