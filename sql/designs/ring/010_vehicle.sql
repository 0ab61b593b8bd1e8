-- Vehicle information: where each vehicle was at its last report, and what it has paid.
--
-- lr.ring_000 .. lr.ring_119 hold the last 120 seconds, one table a second.  A report continues a trip if and only if
-- the same vehicle reported exactly 30 s earlier, so each second is joined with the table of 30 s before and fills a
-- table of its own: nothing is updated in place, nothing needs an index or a vacuum.  A trip that was not continued
-- leaves a row with `ended`.

-- The seconds that the ring holds: a minute's end looks at its 60 s and at the 29 s before, while another worker
-- may already write 29 s of the next.
CREATE FUNCTION lr.ring_seconds() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS 'SELECT lr.minute_s() + 2 * lr.report_period_s()';

CREATE UNLOGGED TABLE lr.ring (
    vehicle_id integer NOT NULL,
    segment_id integer NOT NULL,  -- lr.segment_id(xway, dir, seg)
    position_ft integer NOT NULL,
    lane smallint NOT NULL,
    speed_mph smallint NOT NULL,
    tally smallint NOT NULL,  -- what this report adds to twice the sum of the vehicles' average speeds
    lav smallint NOT NULL,  -- of the segment, if crossed
    stop_reports smallint NOT NULL,  -- consecutive reports of the trip from this very place, 4 meaning 4 or more
    counted boolean NOT NULL,  -- the vehicle's first report from this segment in this minute
    started boolean NOT NULL,  -- none of this worker's reports came 30 s before
    ended boolean NOT NULL,  -- no report: the trip ended 30 s ago
    crossed boolean NOT NULL,  -- entered the segment, and not on the exit lane
    toll bigint NOT NULL,  -- notified for the segment it is in, not yet assessed
    paid bigint NOT NULL  -- assessed on this trip
);

DO $$
BEGIN
    FOR v_slot IN 0..lr.ring_seconds() - 1 LOOP
        EXECUTE format('CREATE UNLOGGED TABLE lr.ring_%s (LIKE lr.ring)', to_char(v_slot, 'FM000'));
    END LOOP;
END
$$;

-- One row per vehicle that ever reported here; touched when a trip starts or ends, not by each report.
CREATE UNLOGGED TABLE lr.vehicle (
    vehicle_id integer PRIMARY KEY,
    trips_begun integer NOT NULL,
    trips_ended integer NOT NULL,
    last_second smallint,  -- of the trip that ended last
    balance bigint NOT NULL  -- assessed on the trips that have ended
) WITH (fillfactor = 80);

-- Vehicles that once began a trip within 60 s of another report of theirs: what a join cannot see is looked up then.
CREATE UNLOGGED TABLE lr.irregular_vehicle (vehicle_id integer PRIMARY KEY);

-- What the reports of this cycle's seconds mean: trips begun and ended, segments entered, vehicles stopped.
CREATE UNLOGGED TABLE lr.movement (
    report_second smallint NOT NULL,
    vehicle_id integer NOT NULL,  -- from here on as in lr.ring
    segment_id integer NOT NULL,
    position_ft integer NOT NULL,
    lane smallint NOT NULL,
    lav smallint NOT NULL,
    stop_reports smallint NOT NULL,
    started boolean NOT NULL,
    ended boolean NOT NULL,
    crossed boolean NOT NULL,
    toll bigint NOT NULL,
    paid bigint NOT NULL
);
