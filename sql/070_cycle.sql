-- The ledger: one row per cycle, and one per step of it, committed with it.
CREATE UNLOGGED TABLE lr.cycle (
    from_second smallint PRIMARY KEY,
    until_second smallint NOT NULL,
    started_at timestamp with time zone NOT NULL DEFAULT clock_timestamp()
);

-- Polling and the statement trigger: each cycle has the same steps, also those in which there was nothing to do.
CREATE UNLOGGED TABLE lr.cycle_step (
    from_second smallint NOT NULL,
    step text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ms real NOT NULL,
    PRIMARY KEY (from_second, step)
);

-- The workers' schemas, this one's included; each has the same tables for expressways of its own.
CREATE VIEW lr.worker AS
SELECT
    nspname::text AS schema_name,
    nspname = 'lr' AS here
FROM pg_catalog.pg_namespace
WHERE nspname ~ '^lr(_[0-9]+)?$';
