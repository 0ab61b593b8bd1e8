-- Segment statistics: of this minute so far, of each minute that is over, and the tolls that follow from them.
-- One row per second and segment, added up when the minute is over.
CREATE UNLOGGED TABLE lr.segment_tally (
    segment_id integer NOT NULL,
    cars integer NOT NULL,
    speed_sum numeric NOT NULL  -- twice the sum of the vehicles' average speeds
);

CREATE UNLOGGED TABLE lr.segment_minute (
    minute smallint NOT NULL,
    segment_id integer NOT NULL,
    cars integer NOT NULL,
    average_mph numeric NOT NULL,
    PRIMARY KEY (minute, segment_id)
);

-- Of the current minute; a segment without a row has no data and no accident ahead.
CREATE UNLOGGED TABLE lr.segment_toll (
    segment_id integer PRIMARY KEY,
    lav smallint NOT NULL,
    toll bigint NOT NULL,
    accident_seg smallint  -- the nearest accident ahead
);
