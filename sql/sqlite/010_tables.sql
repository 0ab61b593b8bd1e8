-- Database lr, in memory: input, state and answers of one run.
--
-- A file is a step; the engine calls those of a cycle in the order of their numbers, 2xx at a minute's end only.
-- In all files, :minute_s and the like are numbers of polling_baseline/spec.py, :second and :minute those of the cycle;
-- lr.ring_now and lr.ring_previous are the ring's tables of :second and of 30 s before.

-- The input of one cycle, cleared when the next one begins.
CREATE TABLE lr.position_report (
    second integer NOT NULL,
    vehicle_id integer NOT NULL,
    speed_mph integer NOT NULL,
    xway integer NOT NULL,
    lane integer NOT NULL,
    dir integer NOT NULL,
    seg integer NOT NULL,
    position_ft integer NOT NULL
);

CREATE TABLE lr.request (
    request_id integer PRIMARY KEY,
    kind integer NOT NULL,
    second integer NOT NULL,
    vehicle_id integer NOT NULL,
    xway integer NOT NULL,
    query_id integer NOT NULL,
    from_seg integer NOT NULL,
    to_seg integer NOT NULL,
    day_of_week integer NOT NULL,
    minute_of_day integer NOT NULL,
    day integer NOT NULL
);

-- What the reports of this cycle's seconds mean: trips begun and ended, segments entered, vehicles stopped.
CREATE TABLE lr.movement (
    second integer NOT NULL,
    vehicle_id integer NOT NULL,  -- from here on as in the ring
    segment_id integer NOT NULL,
    position_ft integer NOT NULL,
    lane integer NOT NULL,
    lav integer NOT NULL,
    stop_reports integer NOT NULL,
    started integer NOT NULL,
    ended integer NOT NULL,
    crossed integer NOT NULL,
    toll integer NOT NULL,
    paid integer NOT NULL,
    PRIMARY KEY (second, vehicle_id)
) WITHOUT ROWID;

-- One row per vehicle that ever reported; touched when a trip starts or ends, not by each report.
CREATE TABLE lr.vehicle (
    vehicle_id integer PRIMARY KEY,
    trips_begun integer NOT NULL,
    trips_ended integer NOT NULL,
    last_second integer,  -- of the trip that ended last
    balance integer NOT NULL  -- assessed on the trips that have ended
);

-- Vehicles that once began a trip within 60 s of another report of theirs: what a join cannot see is looked up then.
CREATE TABLE lr.irregular_vehicle (vehicle_id integer PRIMARY KEY);

-- The vehicles whose rows in the ring are looked up, and those rows.
CREATE TABLE lr.sought_vehicle (vehicle_id integer PRIMARY KEY);

CREATE TABLE lr.sighting (
    vehicle_id integer NOT NULL,
    second integer NOT NULL,
    segment_id integer NOT NULL,
    speed_mph integer NOT NULL,
    tally integer NOT NULL,
    counted integer NOT NULL,
    ended integer NOT NULL,
    paid integer NOT NULL,
    PRIMARY KEY (vehicle_id, second)
) WITHOUT ROWID;

-- Of this minute so far: cars, and twice the sum of their average speeds.
CREATE TABLE lr.segment_tally (
    segment_id integer PRIMARY KEY,
    cars integer NOT NULL,
    speed_sum integer NOT NULL
);

-- What irregular vehicles add to that; a blob is an exact number, an integer or a fraction as text.
CREATE TABLE lr.irregular_tally (
    segment_id integer NOT NULL,
    cars integer NOT NULL,
    speed_sum blob NOT NULL
);

CREATE TABLE lr.segment_minute (
    minute integer NOT NULL,
    segment_id integer NOT NULL,
    cars integer NOT NULL,
    average_mph blob NOT NULL,
    PRIMARY KEY (minute, segment_id)
) WITHOUT ROWID;

-- Of the current minute; a segment without a row has no data and no accident ahead.
CREATE TABLE lr.segment_toll (
    segment_id integer PRIMARY KEY,
    lav integer NOT NULL,
    toll integer NOT NULL,
    accident_seg integer  -- the nearest accident ahead
);

-- The key finds all cars at one place.
CREATE TABLE lr.stopped_car (
    road_id integer NOT NULL,  -- expressway and direction; even numbers lead east
    lane integer NOT NULL,
    position_ft integer NOT NULL,
    vehicle_id integer NOT NULL,
    from_second integer NOT NULL,
    until_second integer NOT NULL,
    PRIMARY KEY (road_id, lane, position_ft, vehicle_id, from_second)
) WITHOUT ROWID;

CREATE TABLE lr.accident (
    minute integer NOT NULL,
    segment_id integer NOT NULL,
    PRIMARY KEY (minute, segment_id)
) WITHOUT ROWID;
