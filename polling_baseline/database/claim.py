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

from psycopg2.extensions import connection as Connection
from psycopg2.extensions import cursor as Cursor

from polling_baseline.database.connection import ServerRecord, Target, with_safe_path
from polling_baseline.refusal import Refusal

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
        with session, session.cursor() as cursor:
            cursor.execute("SELECT set_config('application_name', %s, FALSE)", (self.application,))
            cursor.execute("SELECT pg_advisory_lock_shared(%s)", (LOCK,))

    def record(self) -> ServerRecord:
        return self.target.record(self.connection)

    def close(self) -> None:
        self.connection.close()


def claim_database(target: Target, purpose: str) -> Claim:
    """Have the database to ourselves, for a purpose like `run road1`; a Refusal says who else has it."""
    connection = with_safe_path(target.connect())
    try:
        connection.autocommit = True
        claim = Claim(target, _application(purpose), connection)
        with connection.cursor() as cursor:
            _check_rights(cursor, target)
            deadline = time.monotonic() + WAIT_S
            while not _take_alone(cursor):
                if time.monotonic() > deadline:
                    raise _in_use(cursor, target)
                time.sleep(0.05)
        claim.share(connection)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))
    except BaseException:
        connection.close()
        raise
    return claim


def holder(cursor: Cursor) -> str | None:
    """Who has the database, in words."""
    cursor.execute(
        "SELECT activity.application_name, activity.usename, activity.pid"
        " FROM pg_catalog.pg_locks AS held JOIN pg_catalog.pg_stat_activity AS activity USING (pid)"
        " WHERE held.locktype = 'advisory' AND held.granted AND held.classid = 0 AND held.objid = %s"
        " AND held.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())"
        # The claim itself comes before the sessions of its run.
        " ORDER BY activity.backend_start, activity.pid LIMIT 1",
        (LOCK,),
    )
    row = cursor.fetchone()
    return f"{row[0]} (user {row[1]}, server process {row[2]})" if row else None


def _take_alone(cursor: Cursor) -> bool:
    cursor.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,))
    return cursor.fetchone() == (True,)


def _application(purpose: str) -> str:
    """`lrb run road1 4711@lab3 since 17 Nov 14:05Z`."""
    who = f"{os.getpid()}@{platform.node()[:HOST_LENGTH]}"
    since = f"{datetime.now(timezone.utc):%d %b %H:%MZ}"
    return f"lrb {purpose[:PURPOSE_LENGTH]} {who} since {since}".encode("ascii", "replace").decode()


def _in_use(cursor: Cursor, target: Target) -> Refusal:
    who = holder(cursor) or "another session"
    another = "--database NAME" if target.embedded else '"createdb NAME", then --database NAME'
    return Refusal(
        f"database {target.database} of {target.label} is in use by {who}; "
        f"wait until that is over, or take another database: {another}"
    )


def _check_rights(cursor: Cursor, target: Target) -> None:
    """What a run or a load replaces must be the user's own, and the user must be able to make schemas."""
    cursor.execute(
        "SELECT nspname, pg_get_userbyid(nspowner), format('GRANT %I TO %I', pg_get_userbyid(nspowner), current_user)"
        " FROM pg_catalog.pg_namespace"
        " WHERE nspname ~ '^lr(_[0-9]+|_history|_history_new)?$' AND NOT pg_has_role(nspowner, 'USAGE')"
        " ORDER BY nspname LIMIT 1"
    )
    if row := cursor.fetchone():
        raise _no_right(cursor, target, f"its schema {row[0]} belongs to {row[1]}", row[2])
    cursor.execute(
        "SELECT format('GRANT CREATE ON DATABASE %I TO %I', current_database(), current_user)"
        " WHERE NOT has_database_privilege(current_database(), 'CREATE')"
    )
    if row := cursor.fetchone():
        raise _no_right(cursor, target, "that user may make no schema there", row[0])


def _no_right(cursor: Cursor, target: Target, why: str, grant: str) -> Refusal:
    return Refusal(
        f"user {cursor.connection.info.user} cannot use database {target.database} of {target.label}: {why}; "
        'take a database of your own ("createdb NAME", then --database NAME), '
        f'or let an administrator say "{grant}"'
    )
