"""The connections of a run: one per worker, as lr_driver where the server has that role.

Each holds a lock as long as it lives.  So a run has its database to itself; and what a killed run still has under way
in the server is over before another one looks at the tables.
"""

from __future__ import annotations

import psycopg2
from psycopg2.extensions import connection as Connection

from polling_baseline.database.connection import Target, with_safe_path
from polling_baseline.refusal import Refusal

LOCK = 0x6C725F72
# Whoever else locks a table of the run for so long ends it.
LOCK_TIMEOUT_S = 10


def open_sessions(target: Target, workers: int) -> list[Connection]:
    """One connection per worker, or a Refusal if another run does not let go."""
    sessions: list[Connection] = []
    try:
        for worker in range(workers):
            sessions.append(with_safe_path(target.connect()))
            with sessions[-1], sessions[-1].cursor() as cursor:
                cursor.execute(f"SET lock_timeout = '{LOCK_TIMEOUT_S}s'")
                cursor.execute("SELECT pg_advisory_lock(%s, %s)", (LOCK, worker))
    except psycopg2.errors.LockNotAvailable:
        close_sessions(sessions)
        raise Refusal(
            f"another run uses this database of {target.label}; wait until it is over, or name another with --dsn"
        ) from None
    except BaseException:
        close_sessions(sessions)
        raise
    return sessions


def close_sessions(sessions: list[Connection]) -> None:
    for session in sessions:
        session.close()
