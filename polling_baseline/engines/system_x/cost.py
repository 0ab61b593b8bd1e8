"""What a run costs the server beside time: bytes of its log, and row versions that somebody has to clean up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from polling_baseline.database.install import schema_of
from polling_baseline.database.session import driver, execute
from polling_baseline.database.settings import Durability, after_a_crash, read_settings

if TYPE_CHECKING:
    from sqlalchemy import Connection

# From this version on a session can be told to hand in its statistics at once; older ones do so by themselves.
CAN_FLUSH = 150000


def wal_position(connection: Connection) -> int:
    """Bytes of log that the server has written so far; a difference counts whatever else the server did, too."""
    statement = "SELECT pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), '0/0')::bigint"
    return int(execute(connection, statement).scalar_one())


def database_facts(sessions: Sequence[Connection], durability: Durability, wal_start: int) -> dict[str, object]:
    """Version, settings, and the cost of what these sessions did since the log stood at `wal_start`."""
    for session in sessions:
        # What a cycle left undone in this session is over then, too.
        session.begin()
        if driver(session).server_version >= CAN_FLUSH:
            execute(session, "SELECT pg_catalog.pg_stat_force_next_flush()")
        session.rollback()
    schemas = [schema_of(worker) for worker in range(len(sessions))]
    settings, logged = read_settings(sessions[0]), _are_logged(sessions[0], schemas)
    engine_facts: dict[str, object] = {
        "PostgreSQL": driver(sessions[0]).info.parameter_status("server_version"),
        "settings": settings,
        "durability": durability.name,
        "tables": "logged" if logged else "unlogged",
        "after_a_crash": after_a_crash(settings, logged),
        "wal_bytes": wal_position(sessions[0]) - wal_start,
        **_dead_rows(sessions[0], schemas),
    }
    sessions[0].rollback()
    return engine_facts


def _are_logged(connection: Connection, schemas: list[str]) -> bool:
    """Whether the run's tables are, all of them."""
    logged = execute(
        connection,
        "SELECT bool_and(relpersistence = 'p') FROM pg_catalog.pg_class"
        " WHERE relkind = 'r' AND relnamespace::regnamespace::text = ANY(:schemas)",
        schemas=schemas,
    )
    return bool(logged.scalar_one())


def _dead_rows(connection: Connection, schemas: list[str]) -> dict[str, int]:
    """Row versions of the run's tables that updates and deletes have left behind, and those not cleaned up yet."""
    made, left, autovacuums = execute(
        connection,
        "SELECT coalesce(sum(n_tup_upd + n_tup_del), 0)::bigint, coalesce(sum(n_dead_tup), 0)::bigint,"
        " coalesce(sum(autovacuum_count), 0)::bigint"
        " FROM pg_catalog.pg_stat_user_tables WHERE schemaname = ANY(:schemas)",
        schemas=schemas,
    ).one()
    return {"dead_rows": made, "dead_rows_left": left, "autovacuums": autovacuums}
