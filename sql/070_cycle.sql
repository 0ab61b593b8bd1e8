-- The ledger: one row per cycle, committed with it.
CREATE UNLOGGED TABLE lr.cycle (
    from_second smallint PRIMARY KEY,
    until_second smallint NOT NULL,
    started_at timestamp with time zone NOT NULL,
    minute_ms real NOT NULL,
    advance_ms real NOT NULL,
    tally_ms real NOT NULL,
    balance_ms real NOT NULL,
    notify_ms real NOT NULL,
    history_ms real NOT NULL
);

-- The workers' schemas, this one's included; each has the same tables for expressways of its own.
CREATE VIEW lr.worker AS
SELECT
    nspname::text AS schema_name,
    nspname = 'lr' AS here
FROM pg_catalog.pg_namespace
WHERE nspname ~ '^lr(_[0-9]+)?$';
