-- The answers of one cycle, read by the driver after the commit and cleared when the next cycle begins.
CREATE UNLOGGED TABLE lr.toll_notification (
    vehicle_id integer NOT NULL,
    report_second smallint NOT NULL,
    lav smallint NOT NULL,
    toll bigint NOT NULL
);

CREATE UNLOGGED TABLE lr.accident_alert (
    report_second smallint NOT NULL,
    vehicle_id integer NOT NULL,
    seg smallint NOT NULL
);

CREATE UNLOGGED TABLE lr.account_balance (
    request_second smallint NOT NULL,
    result_second smallint NOT NULL,
    query_id bigint NOT NULL,
    balance bigint NOT NULL
);

CREATE UNLOGGED TABLE lr.daily_expenditure (
    request_second smallint NOT NULL,
    query_id bigint NOT NULL,
    tolls bigint NOT NULL
);

CREATE UNLOGGED TABLE lr.travel_time (
    request_second smallint NOT NULL,
    query_id bigint NOT NULL,
    travel_s bigint NOT NULL,
    toll bigint NOT NULL
);
