"""A student's SQL on a server that must stay as it is.

The file is run by lr_driver, the role of a run's driver, in a database of the lessons' own.  The one routine that it
may replace is given to that role, and called with its rights: it reads the tables of the run, and writes what the
routine is there to write.  No statement may take long.  Whoever lifts that limit in the file is cut off when the check
has taken long enough.  Every role may change its own password and the settings of its logins; on the embedded server
both are taken back after a check, and, should that be killed, before the next run.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg2

from driver.lesson.exercise import BrokenFile, Routine
from polling_baseline.database.connection import Target, find_target
from polling_baseline.database.roles import DRIVER, OWNER, driver_target, restore_driver
from polling_baseline.database.session import driver, execute, execute_script, quoted, transaction, with_safe_path
from polling_baseline.database.settings import OFF
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from sqlalchemy import Connection

DATABASE = "lesson"
# With these one session of lr_driver could end another, that of a run beside.
SIGNALS = ("pg_catalog.pg_terminate_backend(integer, bigint)", "pg_catalog.pg_cancel_backend(integer)")
STATEMENT_LIMIT_S = 20
RUN_LIMIT_S = 90


@contextmanager
def guarded_database() -> Iterator[Target]:
    """The lessons' database, in which a statement is stopped after a while, and all of lr_driver's in the end."""
    target = find_target(None, OFF, DATABASE)
    try:
        with target.open().execution_options(isolation_level="AUTOCOMMIT") as connection:
            name = quoted(connection, driver(connection).info.dbname)
            execute(connection, f"ALTER DATABASE {name} SET statement_timeout = '{STATEMENT_LIMIT_S}s'")
            if target.embedded:
                execute(connection, f"REVOKE EXECUTE ON FUNCTION {', '.join(SIGNALS)} FROM PUBLIC")
    except psycopg2.Error as error:
        raise Refusal(
            f"database {DATABASE} of {target.label} cannot be limited: {error.diag.message_primary}; "
            "unset the PG* variables to use the embedded server"
        ) from None
    limit = threading.Timer(RUN_LIMIT_S, _cut_off, [target])
    limit.daemon = True
    limit.start()
    try:
        yield target
    finally:
        limit.cancel()
        if target.embedded:
            with suppress(psycopg2.Error, Refusal), with_safe_path(target.open()) as connection:
                restore_driver(connection)


def _cut_off(target: Target) -> None:
    with suppress(psycopg2.Error, Refusal), target.open() as connection:
        execute(
            connection,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE usename = :role AND datname = current_database()",
            role=DRIVER,
        )


def adopt_routine(target: Target, routine: Routine, file: Path) -> None:
    """Replace the routine by that of a student's file; BrokenFile says what PostgreSQL has against it."""
    login = driver_target(target)
    if login is None:
        raise Refusal(f"{target.label} lacks the role {DRIVER}, as which a student's SQL runs; see lrb db roles")
    with with_safe_path(target.open()) as owner:
        _grant(owner, routine)
        before = _version(owner, routine)
        _run_file(login, file)
        if _version(owner, routine) == before:
            raise BrokenFile(f"{file.name} does not define {routine.signature}: it must begin with CREATE OR REPLACE")
        with transaction(owner):
            execute_script(owner, f"REVOKE CREATE ON SCHEMA lr FROM {DRIVER}")
            execute_script(owner, f"ALTER {routine.signature} SECURITY DEFINER SET search_path = pg_catalog, pg_temp")


def _grant(connection: Connection, routine: Routine) -> None:
    """What the file may do; the next install of a run builds schema lr anew, and takes it back."""
    with transaction(connection):
        for statement in (
            f"GRANT CREATE ON SCHEMA lr TO {DRIVER}",
            f"GRANT SELECT ON ALL TABLES IN SCHEMA lr TO {DRIVER}",
            f"GRANT EXECUTE ON ALL ROUTINES IN SCHEMA lr TO {DRIVER}",
            *(f"GRANT INSERT ON lr.{table} TO {DRIVER}" for table in routine.writes),
            f"ALTER {routine.signature} OWNER TO {DRIVER}",
            # Its callers belong to the other role.
            f"GRANT EXECUTE ON {routine.signature} TO {OWNER}",
        ):
            execute_script(connection, statement)


def _run_file(login: Target, file: Path) -> None:
    try:
        text = file.read_text()
    except UnicodeDecodeError:
        raise BrokenFile(f"{file.name} is not text in UTF-8") from None
    with with_safe_path(login.open()).execution_options(isolation_level="AUTOCOMMIT") as connection:
        try:
            execute_script(connection, text)
        except psycopg2.Error as error:
            place = _line_of(error, text)
            raise BrokenFile(f"{file.name}{place}: {(error.diag.message_primary or str(error)).strip()}") from None


def _line_of(error: psycopg2.Error, text: str) -> str:
    position = error.diag.statement_position
    return f", line {text.count(chr(10), 0, int(position)) + 1}" if position else ""


def _version(connection: Connection, routine: Routine) -> str:
    """Changes whenever the routine is replaced."""
    signature = routine.signature.split(" ", 1)[1]
    with transaction(connection):
        statement = "SELECT xmin::text FROM pg_proc WHERE oid = to_regprocedure(:signature)"
        return str(execute(connection, statement, signature=signature).scalar_one())
