"""Who has a database: one run or one load at a time.

An advisory lock of the database says so.  A claim takes it alone, which only works while nobody has it, and then shares
it with the sessions of its run.  So what a killed run still has under way in the server keeps others out, too.  Who
that is stands in the application name of these sessions, which every user of the server may read.
"""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from polling_baseline.database.connection import ServerLabel, Target
from polling_baseline.database.session import driver, execute, transaction, with_safe_path
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from sqlalchemy import Connection

LOCK = 0x6C725F72
# A session that was cut off may still be at work for so long.
WAIT_S = 10
# PostgreSQL cuts an application name after 63 bytes, so these are cut before.
PURPOSE_LENGTH, HOST_LENGTH = 20, 10


@dataclass(frozen=True, slots=True)
class Claim:
    """A database that is ours until `close`."""

    target: Target
    application: str
    connection: Connection

    def share(self, session: Connection) -> None:
        """Make a session one of ours: while it lives, the database stays ours."""
        with transaction(session):
            execute(session, "SELECT set_config('application_name', :name, FALSE)", name=self.application)
            execute(session, "SELECT pg_advisory_lock_shared(:lock)", lock=LOCK)

    def record(self) -> ServerLabel:
        return self.target.record(self.connection)

    def close(self) -> None:
        self.connection.close()


def claim_database(target: Target, purpose: str) -> Claim:
    """Have the database to ourselves, for a purpose like `run road1`; a Refusal says who else has it."""
    connection = with_safe_path(target.open()).execution_options(isolation_level="AUTOCOMMIT")
    try:
        claim = Claim(target, _application(purpose), connection)
        _check_rights(connection, target)
        deadline = time.monotonic() + WAIT_S
        while not _take_alone(connection):
            if time.monotonic() > deadline:
                raise _in_use(connection, target)
            time.sleep(0.05)
        claim.share(connection)
        with transaction(connection):
            execute(connection, "SELECT pg_advisory_unlock(:lock)", lock=LOCK)
    except BaseException:
        connection.close()
        raise
    return claim


def holder(connection: Connection) -> str | None:
    """Who has the database, in words."""
    sessions = execute(
        connection,
        "SELECT activity.application_name, activity.usename, activity.pid"
        " FROM pg_catalog.pg_locks AS held JOIN pg_catalog.pg_stat_activity AS activity USING (pid)"
        " WHERE held.locktype = 'advisory' AND held.granted AND held.classid = 0 AND held.objid = :lock"
        " AND held.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())"
        # The claim itself comes before the sessions of its run.
        " ORDER BY activity.backend_start, activity.pid LIMIT 1",
        lock=LOCK,
    )
    row = sessions.first()
    return f"{row[0]} (user {row[1]}, server process {row[2]})" if row else None


def _take_alone(connection: Connection) -> bool:
    return bool(execute(connection, "SELECT pg_try_advisory_lock(:lock)", lock=LOCK).scalar_one())


def _application(purpose: str) -> str:
    """`lrb run road1 4711@lab3 since 17 Nov 14:05Z`."""
    who = f"{os.getpid()}@{platform.node()[:HOST_LENGTH]}"
    since = f"{datetime.now(timezone.utc):%d %b %H:%MZ}"
    return f"lrb {purpose[:PURPOSE_LENGTH]} {who} since {since}".encode("ascii", "replace").decode()


def _in_use(connection: Connection, target: Target) -> Refusal:
    who = holder(connection) or "another session"
    another = "--database NAME" if target.embedded else '"createdb NAME", then --database NAME'
    return Refusal(
        f"database {target.database} of {target.label} is in use by {who}; "
        f"wait until that is over, or take another database: {another}"
    )


def _check_rights(connection: Connection, target: Target) -> None:
    """What a run or a load replaces must be the user's own, and the user must be able to make schemas."""
    others = execute(
        connection,
        "SELECT nspname, pg_get_userbyid(nspowner), format('GRANT %I TO %I', pg_get_userbyid(nspowner), current_user)"
        " FROM pg_catalog.pg_namespace"
        " WHERE nspname ~ '^lr(_[0-9]+|_history|_history_new)?$' AND NOT pg_has_role(nspowner, 'USAGE')"
        " ORDER BY nspname LIMIT 1",
    )
    if row := others.first():
        raise _no_right(connection, target, f"its schema {row[0]} belongs to {row[1]}", row[2])
    grants = execute(
        connection,
        "SELECT format('GRANT CREATE ON DATABASE %I TO %I', current_database(), current_user)"
        " WHERE NOT has_database_privilege(current_database(), 'CREATE')",
    )
    if row := grants.first():
        raise _no_right(connection, target, "that user may make no schema there", row[0])


def _no_right(connection: Connection, target: Target, why: str, grant: str) -> Refusal:
    return Refusal(
        f"user {driver(connection).info.user} cannot use database {target.database} of {target.label}: {why}; "
        'take a database of your own ("createdb NAME", then --database NAME), '
        f'or let an administrator say "{grant}"'
    )
