-- One table of the ring: where each vehicle was at its last report, and what it has paid.
--
-- lr.ring_00 to lr.ring_89 hold the last 90 seconds, one table a second: a minute's end looks at its 60 s and at the
-- 29 s before.  A report continues a trip if and only if the same vehicle reported exactly 30 s earlier, so each second
-- is joined with the table of 30 s before and fills a table of its own.  A trip that was not continued leaves a row
-- with `ended`.  This database joins by index only: the vehicle is the key.
CREATE TABLE lr.ring_now (
    vehicle_id integer PRIMARY KEY,
    segment_id integer NOT NULL,  -- (xway * 2 + dir) * :segments + seg
    position_ft integer NOT NULL,
    lane integer NOT NULL,
    speed_mph integer NOT NULL,
    tally integer NOT NULL,  -- what this report adds to twice the sum of the vehicles' average speeds
    lav integer NOT NULL,  -- of the segment, if crossed
    stop_reports integer NOT NULL,  -- consecutive reports of the trip from this very place, 4 meaning 4 or more
    counted integer NOT NULL,  -- the vehicle's first report from this segment in this minute
    started integer NOT NULL,  -- no report 30 s before
    ended integer NOT NULL,  -- no report: the trip ended 30 s ago
    crossed integer NOT NULL,  -- entered the segment, and not on the exit lane
    toll integer NOT NULL,  -- notified for the segment it is in, not yet assessed
    paid integer NOT NULL  -- assessed on this trip
);
