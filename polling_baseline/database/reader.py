"""Ad-hoc questions to the database, beside a run: as a role that can only read, with a limit on the time they take.

`lr_reader` reads every table of its database and owns nothing.  The embedded server gets it by itself; on a given
server an administrator makes it once.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg2

from polling_baseline.database.connection import Target
from polling_baseline.database.roles import Login, log_in
from polling_baseline.database.session import execute, execute_script, transaction, with_safe_path
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from sqlalchemy import Connection

READER = "lr_reader"
PASSWORD_VARIABLE = "LRB_READER_PASSWORD"
# A cursor takes one query that gives rows, and nothing that could end the transaction or what it is limited by.
OPEN = """DO $$
    DECLARE answer refcursor DEFAULT 'answer';
    BEGIN OPEN answer FOR EXECUTE current_setting('lr.query'); END
$$"""
STATEMENTS = (f"CREATE ROLE {READER} LOGIN", f"GRANT pg_read_all_data TO {READER}")


@dataclass(frozen=True, slots=True)
class Rows:
    """What a query gave: the names of its columns, some rows, and whether there were more."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    cut: bool


def ask(target: Target, query: str, timeout_s: float, most_rows: int | None = None) -> Rows:
    """The rows of a query; a Refusal has what PostgreSQL says against it."""
    with with_safe_path(target.open()) as connection:
        _make_reader(connection, target)
    password = os.environ.get(PASSWORD_VARIABLE)
    with log_in(target, Login(READER, "queries are asked as", PASSWORD_VARIABLE), password).open() as session:
        try:
            with transaction(session):
                for setting in ("statement_timeout", "lock_timeout"):
                    execute(session, f"SET {setting} = {round(1000 * timeout_s)}")
                execute(session, "SET TRANSACTION READ ONLY")
                execute(session, "SELECT set_config('lr.query', :query, TRUE)", query=query)
                execute_script(session, OPEN)
                result = execute(session, f"FETCH {'ALL' if most_rows is None else most_rows + 1} FROM answer")
                if not result.returns_rows:
                    return Rows((), (), False)
                rows = result.fetchall()
                return Rows(list(result.keys()), rows[:most_rows], most_rows is not None and len(rows) > most_rows)
        except (psycopg2.errors.QueryCanceled, psycopg2.errors.LockNotAvailable):
            raise Refusal(f"the query took more than {timeout_s:g} s and was stopped; --timeout sets another") from None
        except psycopg2.errors.InvalidCursorDefinition as error:
            raise Refusal(
                f"that is no single question: {error.diag.message_primary}; ask by one SELECT, TABLE, SHOW or EXPLAIN"
            ) from None
        except psycopg2.Error as error:
            message = (error.diag.message_primary or str(error)).strip()
            raise Refusal(f"PostgreSQL at {target.label}: {message}{_line_of(error, query)}") from None


def _line_of(error: psycopg2.Error, query: str) -> str:
    position = error.diag.statement_position or error.diag.internal_position
    return f', at "{query[int(position) - 1 :][:30]}"' if position else ""


def _make_reader(connection: Connection, target: Target) -> None:
    with transaction(connection):
        known = execute(connection, "SELECT oid FROM pg_roles WHERE rolname = :name", name=READER).first()
    if known:
        return
    if not target.embedded:
        raise Refusal(
            f"PostgreSQL at {target.label} has no role {READER}, as which queries are asked; "
            f'let an administrator say "{"; ".join(STATEMENTS)}"'
        )
    with transaction(connection):
        for statement in STATEMENTS:
            execute_script(connection, statement)
