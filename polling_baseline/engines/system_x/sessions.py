"""The sessions of a run: one per worker, as lr_driver where the server has that role, in the run's profile.

They come from one pool.  Each has a share in the run's claim on its database as long as it lives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polling_baseline.database.claim import Claim
from polling_baseline.database.connection import Target
from polling_baseline.database.install import LOCK_TIMEOUT_S
from polling_baseline.database.session import execute, transaction, with_safe_path
from polling_baseline.database.settings import Durability, adopt_profile

if TYPE_CHECKING:
    from sqlalchemy import Connection


def open_sessions(claim: Claim, login: Target, workers: int, durability: Durability) -> list[Connection]:
    """One session per worker, all or none."""
    engine = login.engine(workers)
    sessions: list[Connection] = []
    try:
        for _ in range(workers):
            sessions.append(with_safe_path(login.open(engine)))
            claim.share(sessions[-1])
            adopt_profile(sessions[-1], durability)
            with transaction(sessions[-1]):
                execute(sessions[-1], f"SET lock_timeout = '{LOCK_TIMEOUT_S}s'")
    except BaseException:
        close_sessions(sessions)
        raise
    return sessions


def close_sessions(sessions: list[Connection]) -> None:
    for session in sessions:
        session.close()
    # In the pool they would keep their share in the claim.
    for session in sessions[:1]:
        session.engine.dispose()
