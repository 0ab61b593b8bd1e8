-- Schema lr: the state and the answers of one run.  Nothing is updated in place: tables are appended to, or replaced.

-- Vehicle information: where each vehicle was at its last report, and what it has paid on its trip.
--
-- lr.ring_00 to lr.ring_59 hold the last 60 seconds, one table a cycle, named for the place of its first second in a
-- minute.  A report continues a trip if and only if the same vehicle reported exactly 30 s earlier, so each cycle
-- joins its reports with the tables of 30 s before, and fills one of its own.  A trip that was not continued leaves a
-- row with `ended`.
-- This one stays empty: it has the form of them all.
CREATE TABLE lr.ring (
    second smallint,
    vehicle_id integer,
    segment_id integer,  -- lr.segment_id(xway, dir, seg)
    position_ft integer,
    lane smallint,
    speed_mph smallint,
    tally smallint,  -- what this report adds to twice the sum of the vehicles' average speeds
    lav smallint,  -- of the segment, if crossed
    accident_seg smallint,  -- the nearest accident ahead of the segment
    stop_reports smallint,  -- consecutive reports of the trip from this very place, 4 meaning 4 or more
    counted boolean,  -- the vehicle's first report from this segment in this minute
    started boolean,  -- no report 30 s before
    ended boolean,  -- no report: the trip ended 30 s ago
    crossed boolean,  -- entered the segment, and not on the exit lane
    toll bigint,  -- notified for the segment it is in, not yet assessed
    paid bigint  -- assessed on this trip
);

-- Trips that began (change 1) or whose end was seen (change -1, with what was paid on them).
CREATE TABLE lr.trip_event (vehicle_id integer, second smallint, change smallint, paid bigint);
CREATE INDEX event_of_vehicle ON lr.trip_event (vehicle_id);

-- Vehicles that ever had two trips with reports in one minute.
CREATE TABLE lr.irregular_vehicle (vehicle_id integer);

-- This minute so far, one row per cycle and segment: cars, and twice the sum of their average speeds; what is not whole
-- of that sum stands apart, as a number of lr.unit().
CREATE TABLE lr.segment_tally (segment_id integer, cars bigint, speed_sum bigint, speed_units hugeint);

-- The last five minutes; average_mph as a number of lr.unit().
CREATE TABLE lr.segment_minute (minute integer, segment_id integer, cars bigint, average_mph hugeint);

-- Of the current minute; a segment without a row has no data and no accident ahead.
CREATE TABLE lr.segment_toll (segment_id integer, lav smallint, toll bigint, accident_seg smallint);

-- Cars that stand still on a travel lane.
CREATE TABLE lr.stopped_car (
    vehicle_id integer, road_id integer, lane smallint, position_ft integer, from_second smallint, until_second smallint
);

-- The ledger: one row per cycle, committed with it.
CREATE TABLE lr.cycle (from_second smallint, until_second smallint);
