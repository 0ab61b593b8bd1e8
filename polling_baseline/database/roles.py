"""Least privilege: what a run builds belongs to one role, and the driver logs in as another that may do very little.

`lr_owner` owns the schemas; nobody logs in as it.  `lr_driver` may load a cycle's input, call the cycle's routines and
read its answers (`sql/rights/`).  The embedded server gets both by itself.  On a given server an administrator makes
them once; without them a run has the rights of the user it was given, as it says.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import psycopg2

from polling_baseline.database.connection import Target, WrongPassword
from polling_baseline.database.session import driver, execute, execute_script, quoted, transaction, with_safe_path
from polling_baseline.refusal import Refusal
from polling_baseline.wording import format_count

if TYPE_CHECKING:
    from sqlalchemy import Connection

log = logging.getLogger("lrb")
OWNER, DRIVER = "lr_owner", "lr_driver"
# Of lr_driver on a given server; a password file will do as well.
PASSWORD_VARIABLE = "LRB_DRIVER_PASSWORD"


def driver_target(target: Target) -> Target | None:
    """The driver's own login; None if the server lacks the roles, and everything has the rights of the given user."""
    with with_safe_path(target.open()) as connection:
        if target.embedded:
            make_roles(connection)
        elif missing := missing_statements(connection):
            log.warning(
                f"the driver has all rights of its user on {target.label} "
                f"({format_count(len(missing), 'statement')} of an administrator would change that: "
                '"lrb db roles" prints them)'
            )
            return None
    password = os.environ.get(PASSWORD_VARIABLE)
    return log_in(target, Login(DRIVER, "a run works as", PASSWORD_VARIABLE), password)


def missing_statements(connection: Connection) -> list[str]:
    """The statements, without semicolon, that an administrator must run before a user can install as lr_owner."""
    with transaction(connection):
        database, user, superuser = execute(
            connection, "SELECT current_database(), current_user, rolsuper FROM pg_roles WHERE rolname = current_user"
        ).one()
        roles = execute(connection, "SELECT rolname FROM pg_roles WHERE rolname = ANY(:names)", names=[OWNER, DRIVER])
        known = set(roles.scalars())
        names = {name: quoted(connection, name) for name in (OWNER, DRIVER, database, user)}
        wanted = []
        if OWNER not in known:
            wanted.append(f"CREATE ROLE {names[OWNER]} NOLOGIN")
        if DRIVER not in known:
            wanted.append(f"CREATE ROLE {names[DRIVER]} LOGIN")
        if OWNER not in known or not _may_on_database(connection, OWNER, "CREATE"):
            wanted.append(f"GRANT CREATE ON DATABASE {names[database]} TO {names[OWNER]}")
        if not superuser and (OWNER not in known or not _is_member(connection)):
            wanted.append(f"GRANT {names[OWNER]} TO {names[user]}")
        return wanted


def make_roles(connection: Connection) -> None:
    """Run the statements that are missing, as the administrator of a database that serves nothing else."""
    for statement in missing_statements(connection):
        try:
            with transaction(connection):
                execute_script(connection, statement)
        except psycopg2.Error:
            # Another run may make them at this very moment.
            if statement in missing_statements(connection):
                raise
    restore_driver(connection)
    with transaction(connection):
        if _may_on_database(connection, DRIVER, "TEMP"):
            database = quoted(connection, driver(connection).info.dbname)
            execute_script(connection, f"REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC")
        # Everybody's right up to PostgreSQL 14.
        may_create = "SELECT has_schema_privilege(:role, to_regnamespace('public'), 'CREATE')"
        if execute(connection, may_create, role=DRIVER).scalar_one():
            execute(connection, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")


def restore_driver(connection: Connection) -> None:
    """Take back what every role may change of itself, and a student's SQL may have: settings of its logins, a password.

    On a server that serves nothing else nobody means to set either.
    """
    with transaction(connection):
        databases = execute(
            connection,
            "SELECT datname FROM pg_db_role_setting LEFT JOIN pg_database ON pg_database.oid = setdatabase"
            " WHERE setrole = to_regrole(:role)",
            role=DRIVER,
        ).scalars()
        for database in databases.all():
            place = f" IN DATABASE {quoted(connection, database)}" if database else ""
            execute_script(connection, f"ALTER ROLE {DRIVER}{place} RESET ALL")
        has_password = "SELECT rolpassword IS NOT NULL FROM pg_authid WHERE rolname = :role"
        if execute(connection, has_password, role=DRIVER).scalar():
            execute_script(connection, f"ALTER ROLE {DRIVER} PASSWORD NULL")


def let_owner_read_history(connection: Connection) -> None:
    """The routines, which are lr_owner's, read what `lrb load` has put there."""
    try:
        with transaction(connection):
            execute(connection, f"GRANT USAGE ON SCHEMA lr_history TO {OWNER}")
            execute(connection, f"GRANT SELECT ON lr_history.toll_history, lr_history.segment_average TO {OWNER}")
    except psycopg2.Error as error:
        raise Refusal(
            f"{OWNER} may not read the history in lr_history: {error.diag.message_primary}; load it as this user"
        ) from None


@dataclass(frozen=True, slots=True)
class Login:
    """A role of our own, what it is there for, and the environment variable that may hold its password."""

    role: str
    purpose: str
    variable: str


def log_in(target: Target, login: Login, password: str | None) -> Target:
    """The same server, as another role."""
    parameters = {**target.parameters, "user": login.role}
    if not target.embedded:
        parameters.pop("password", None)
        if password:
            parameters["password"] = password
    other = replace(target, parameters=parameters)
    try:
        other.connect().close()
    except WrongPassword:
        raise Refusal(
            f"PostgreSQL at {target.label} refused the password of {login.role}, the role that {login.purpose}; "
            f"set {login.variable} or put it into the password file "
            f'("\\password {login.role}" in psql sets a new one)'
        ) from None
    except Refusal as refusal:
        raise Refusal(f"{refusal} ({login.purpose} the role {login.role}, which must be able to log in)") from None
    return other


def _may_on_database(connection: Connection, role: str, right: str) -> bool:
    statement = "SELECT has_database_privilege(:role, current_database(), :right)"
    return bool(execute(connection, statement, role=role, right=right).scalar_one())


def _is_member(connection: Connection) -> bool:
    return bool(execute(connection, "SELECT pg_has_role(:role, 'MEMBER')", role=OWNER).scalar_one())
