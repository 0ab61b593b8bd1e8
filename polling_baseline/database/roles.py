"""Least privilege: what a run builds belongs to one role, and the driver logs in as another that may do very little.

`lr_owner` owns the schemas; nobody logs in as it.  `lr_driver` may load a cycle's input, call the cycle's routines and
read its answers (`sql/rights/`).  The embedded server gets both by itself.  On a given server an administrator makes
them once; without them a run has the rights of the user it was given, as it says.
"""

from __future__ import annotations

import logging
import os
from contextlib import closing
from dataclasses import replace

import psycopg2
from psycopg2.extensions import connection as Connection
from psycopg2.sql import SQL, Composable, Identifier

from polling_baseline.database.connection import Target, WrongPassword, with_safe_path
from polling_baseline.refusal import Refusal
from polling_baseline.wording import format_count

log = logging.getLogger("lrb")
OWNER, DRIVER = "lr_owner", "lr_driver"
# Of lr_driver on a given server; a password file will do as well.
PASSWORD_VARIABLE = "LRB_DRIVER_PASSWORD"


def driver_target(target: Target) -> Target | None:
    """The driver's own login; None if the server lacks the roles, and everything has the rights of the given user."""
    with closing(with_safe_path(target.connect())) as connection:
        if target.embedded:
            make_roles(connection)
        elif missing := missing_statements(connection):
            log.warning(
                f"the driver has all rights of its user on {target.label} "
                f"({format_count(len(missing), 'statement')} of an administrator would change that: "
                '"lrb db roles" prints them)'
            )
            return None
    return _login(target)


def missing_statements(connection: Connection) -> list[str]:
    """The statements, without semicolon, that an administrator must run before a user can install as lr_owner."""
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT current_database(), current_user, rolsuper FROM pg_roles WHERE rolname = current_user")
        [(database, user, superuser)] = cursor.fetchall()
        cursor.execute("SELECT rolname FROM pg_roles WHERE rolname IN (%s, %s)", (OWNER, DRIVER))
        known = {name for (name,) in cursor.fetchall()}
        wanted: list[Composable] = []
        if OWNER not in known:
            wanted.append(SQL("CREATE ROLE {} NOLOGIN").format(Identifier(OWNER)))
        if DRIVER not in known:
            wanted.append(SQL("CREATE ROLE {} LOGIN").format(Identifier(DRIVER)))
        if OWNER not in known or not _true(cursor, "has_database_privilege(%s, %s, 'CREATE')", OWNER, database):
            wanted.append(SQL("GRANT CREATE ON DATABASE {} TO {}").format(*map(Identifier, (database, OWNER))))
        if not superuser and (OWNER not in known or not _true(cursor, "pg_has_role(%s, 'MEMBER')", OWNER)):
            wanted.append(SQL("GRANT {} TO {}").format(*map(Identifier, (OWNER, user))))
        return [statement.as_string(cursor) for statement in wanted]


def make_roles(connection: Connection) -> None:
    """Run the statements that are missing, as the administrator of a database that serves nothing else."""
    for statement in missing_statements(connection):
        try:
            _run(connection, statement)
        except psycopg2.Error:
            # Another run may make them at this very moment.
            if statement in missing_statements(connection):
                raise
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT has_database_privilege(%s, current_database(), 'TEMP')", (DRIVER,))
        if cursor.fetchone() == (True,):
            database = Identifier(connection.info.dbname)
            cursor.execute(SQL("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC").format(database))
        # Everybody's right up to PostgreSQL 14.
        cursor.execute("SELECT has_schema_privilege(%s, to_regnamespace('public'), 'CREATE')", (DRIVER,))
        if cursor.fetchone() == (True,):
            cursor.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")


def let_owner_read_history(connection: Connection) -> None:
    """The routines, which are lr_owner's, read what `lrb load` has put there."""
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(f"GRANT USAGE ON SCHEMA lr_history TO {OWNER}")
            cursor.execute(f"GRANT SELECT ON lr_history.toll_history, lr_history.segment_average TO {OWNER}")
    except psycopg2.Error as error:
        raise Refusal(
            f"{OWNER} may not read the history in lr_history: {error.diag.message_primary}; load it as this user"
        ) from None


def _login(target: Target) -> Target:
    parameters = {**target.parameters, "user": DRIVER}
    if not target.embedded:
        parameters.pop("password", None)
        if password := os.environ.get(PASSWORD_VARIABLE):
            parameters["password"] = password
    driver = replace(target, parameters=parameters)
    try:
        driver.connect().close()
    except WrongPassword:
        raise Refusal(
            f"PostgreSQL at {target.label} refused the password of {DRIVER}, the role that a run works as; "
            f'set {PASSWORD_VARIABLE} or put it into the password file ("\\password {DRIVER}" in psql sets a new one)'
        ) from None
    except Refusal as refusal:
        raise Refusal(f"{refusal} (a run works as the role {DRIVER}, which must be able to log in)") from None
    return driver


def _run(connection: Connection, statement: str) -> None:
    with connection, connection.cursor() as cursor:
        cursor.execute(statement)


def _true(cursor: psycopg2.extensions.cursor, expression: str, *values: str) -> bool:
    cursor.execute(f"SELECT {expression}", values)
    return cursor.fetchone() == (True,)
