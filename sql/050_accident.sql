-- Stopped cars, and the accidents that two of them at one place make.
CREATE UNLOGGED TABLE lr.stopped_car (
    vehicle_id integer NOT NULL,
    road_id integer NOT NULL,  -- lr.road_id(segment_id)
    lane smallint NOT NULL,
    position_ft integer NOT NULL,
    from_second smallint NOT NULL,
    until_second smallint NOT NULL
);

CREATE UNLOGGED TABLE lr.accident (
    minute smallint NOT NULL,
    segment_id integer NOT NULL,
    PRIMARY KEY (minute, segment_id)
);
