"""The connections of a run: one per worker, as lr_driver where the server has that role, in the run's profile.

Each has a share in the run's claim on its database as long as it lives.
"""

from __future__ import annotations

from psycopg2.extensions import connection as Connection

from polling_baseline.database.claim import Claim
from polling_baseline.database.connection import Target, with_safe_path
from polling_baseline.database.install import LOCK_TIMEOUT_S
from polling_baseline.database.settings import adopt_profile


def open_sessions(claim: Claim, login: Target, workers: int, durability: str) -> list[Connection]:
    """One connection per worker, all or none."""
    sessions: list[Connection] = []
    try:
        for _ in range(workers):
            sessions.append(with_safe_path(login.connect()))
            claim.share(sessions[-1])
            adopt_profile(sessions[-1], durability)
            with sessions[-1], sessions[-1].cursor() as cursor:
                cursor.execute(f"SET lock_timeout = '{LOCK_TIMEOUT_S}s'")
    except BaseException:
        close_sessions(sessions)
        raise
    return sessions


def close_sessions(sessions: list[Connection]) -> None:
    for session in sessions:
        session.close()
