"""What is done with a session: plain statements, SQL files, transactions, and the driver's connection below."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from psycopg2.extensions import connection as DriverConnection
from psycopg2.extensions import quote_ident

if TYPE_CHECKING:
    from sqlalchemy import Connection, CursorResult
    from sqlalchemy.engine import RootTransaction


def driver(session: Connection) -> DriverConnection:
    """The driver's connection below a session."""
    return cast(DriverConnection, session.connection.driver_connection)


def execute(session: Connection, statement: str, **values: object) -> CursorResult:
    """Run a plain statement; `:name` stands for a value."""
    from sqlalchemy import text

    return session.execute(text(statement), values)


def execute_script(session: Connection, script: str) -> None:
    """Run the statements of an SQL file as they stand there: a colon or a percent sign is no place for a value."""
    session.exec_driver_sql(script, execution_options={"no_parameters": True})


def transaction(session: Connection) -> RootTransaction:
    """For `with`: what it holds, and what was begun before, is committed in the end, or undone if it fails."""
    return session.get_transaction() or session.begin()


def quoted(session: Connection, name: str) -> str:
    """A name as it stands in a statement."""
    return quote_ident(name, driver(session))


def with_safe_path(session: Connection) -> Connection:
    """The same, and nobody else's functions or operators are found by their names."""
    with transaction(session):
        execute(session, "SET search_path = pg_catalog, pg_temp")
    return session
