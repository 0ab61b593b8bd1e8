"""How to reach a PostgreSQL server: the one given by --dsn or PG* variables, or else the embedded one.

SQLAlchemy is the way there: it makes and pools the sessions, and `execute` runs plain statements with bound values.
The driver underneath, psycopg2, is used directly in three places:
- binary COPY, which SQLAlchemy does not have.  `driver` gives the connection below a session, so that a COPY is part of
  the same transaction as the statements around it;
- the cycles of a run, which are COPY and CALL in one transaction, and whose every millisecond is measured;
- connection strings: `parse_dsn` and `make_dsn` are libpq's own rules for them.
Errors are psycopg2's on both ways: they say what the server said, and SQLAlchemy adds no statement and no values.

No text made here holds a password: neither a label, nor an error, nor the `repr` of a target.
"""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypedDict

import psycopg2
from psycopg2.extensions import connection as DriverConnection
from psycopg2.extensions import make_dsn, parse_dsn

from polling_baseline.database.embedded.binaries import OLDEST_MAJOR
from polling_baseline.database.session import driver, execute, execute_script, quoted
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine
    from sqlalchemy.engine import ExceptionContext

    from polling_baseline.database.settings import Durability

# A server is meant as soon as one of these says where; PGUSER or PGPASSWORD alone do not.
WHERE_VARIABLES = ("PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE")
VARIABLES = {
    "PGHOST": "host",
    "PGHOSTADDR": "hostaddr",
    "PGPORT": "port",
    "PGDATABASE": "dbname",
    "PGUSER": "user",
    "PGPASSWORD": "password",
    "PGPASSFILE": "passfile",
    "PGSSLMODE": "sslmode",
    "PGSSLROOTCERT": "sslrootcert",
}
# What `run.json` may repeat of a connection string; none of it is secret.
OPEN_PARAMETERS = ("service", *(key for key in VARIABLES.values() if key != "password"), "sslcert", "sslkey")
# Where compose.yaml has its server.
COMPOSE = (("localhost", "127.0.0.1", "::1"), "5432")
# What a connection string may say otherwise.
CONNECT_DEFAULTS = {"fallback_application_name": "lrb", "connect_timeout": "10"}
# A server that starts, stops or recovers from a crash says so, or hangs up; it will soon answer otherwise.
PATIENCE_S = {
    "the database system is (?:starting up|shutting down|in recovery mode|not (?:yet )?accepting)": 60,
    "server closed the connection unexpectedly|terminating connection": 5,
}


class Unreachable(Refusal):
    """Nothing answers there."""


class WrongPassword(Refusal):
    """The server wants another password, or one at all."""


class ServerLabel(TypedDict):
    """Where a database engine ran, as `run.json` remembers it; never a password."""

    embedded: bool
    host: str
    port: int
    database: str
    user: str
    version: str
    # For --dsn; null for the embedded server.
    dsn: str | None


def describe_server(server: ServerLabel) -> str:
    """`localhost:5432/database`, for messages."""
    where = "the embedded PostgreSQL, database " if server["embedded"] else f"{server['host']}:{server['port']}/"
    return where + server["database"]


@dataclass(frozen=True, slots=True)
class Target:
    """A server and a database on it; can be sent to other processes."""

    # libpq's own words: host, port, dbname, user, password, ...
    parameters: Mapping[str, str] = field(repr=False)
    embedded: bool = False

    @property
    def label(self) -> str:
        """`localhost:5432`, for messages."""
        if self.embedded:
            return "the embedded PostgreSQL"
        if service := self.parameters.get("service") or os.environ.get("PGSERVICE"):
            return f"service {service}"
        host = self.parameters.get("host") or self.parameters.get("hostaddr") or "the local socket"
        return f"{host}:{self.parameters.get('port', '5432')}"

    @property
    def database(self) -> str:
        """As far as it was named; otherwise it is that of the user's name."""
        return self.parameters.get("dbname") or self.parameters.get("user") or "the default database"

    def on(self, database: str | None) -> Target:
        """The same server, another database if one is named."""
        return replace(self, parameters={**self.parameters, "dbname": database}) if database else self

    def record(self, connection: Connection) -> ServerLabel:
        """What to remember of the server at the other end of this connection."""
        info = driver(connection).info
        reached = {"host": info.host, "port": str(info.port), "dbname": info.dbname, "user": info.user}
        if service := self.parameters.get("service") or os.environ.get("PGSERVICE"):
            reached = {"service": service, "dbname": info.dbname}
        own = {name: value for name, value in self.parameters.items() if name in OPEN_PARAMETERS}
        version = str(info.parameter_status("server_version")).split()[0]
        dsn = None if self.embedded else make_dsn(**{**reached, **own})
        return {
            "embedded": self.embedded,
            "host": info.host,
            "port": info.port,
            "database": info.dbname,
            "user": info.user,
            "version": version,
            "dsn": dsn,
        }

    @property
    def sqlalchemy_url(self) -> URL:
        """For `create_engine`; its `str` hides the password."""
        from sqlalchemy import URL

        rest = dict(self.parameters)
        host, port = rest.get("host", ""), rest.pop("port", None)
        # A socket's folder cannot stand where a URL has its host; several hosts neither, nor what is no port.
        plain = bool(host) and not host.startswith("/") and "," not in host and (port or "0").isdecimal()
        if plain:
            del rest["host"]
        elif port:
            rest["port"] = port
        return URL.create(
            "postgresql+psycopg2",
            username=rest.pop("user", None),
            password=rest.pop("password", None),
            host=host if plain else None,
            port=int(port) if plain and port else None,
            database=rest.pop("dbname", None),
            query=rest,
        )

    @property
    def psql(self) -> tuple[str, dict[str, str]]:
        """The connection string for psql, and the variables that hold what no process list may show."""
        rest = dict(self.parameters)
        password = rest.pop("password", None)
        return make_dsn(**rest), {"PGPASSWORD": password} if password else {}

    def engine(self, sessions: int = 0) -> Engine:
        """The server as SQLAlchemy knows it, with a pool of so many sessions; without, closing a session ends it."""
        from sqlalchemy import create_engine, event
        from sqlalchemy.pool import NullPool, QueuePool

        if not re.fullmatch(r"[\d,]*", self.parameters.get("port", "")):
            raise Refusal("the port of the server is not a number; correct --dsn or PGPORT")
        pool = {"poolclass": QueuePool, "pool_size": sessions, "max_overflow": 0} if sessions else {}
        engine = create_engine(
            self.sqlalchemy_url,
            connect_args={name: value for name, value in CONNECT_DEFAULTS.items() if name not in self.parameters},
            hide_parameters=True,
            # No session is used twice, so none is tidied up; and none is asked for a type that nobody uses here.
            pool_reset_on_return=None,
            use_native_hstore=False,
            **{"poolclass": NullPool, **pool},
        )
        event.listen(engine, "handle_error", _raise_driver_error)
        return engine

    def connect(self) -> DriverConnection:
        """What `open` gives, as the driver's own connection."""
        session = self.open()
        connection = driver(session)
        session.detach()
        return connection

    def open(self, engine: Engine | None = None) -> Connection:
        """A new session, of an engine's pool if one is given, or a Refusal that says what to do."""
        engine = engine or self.engine()
        begun_at = time.monotonic()
        while True:
            try:
                connection = engine.connect()
                break
            except (psycopg2.OperationalError, UnicodeDecodeError) as error:
                patience_s = max((s for pattern, s in PATIENCE_S.items() if re.search(pattern, str(error))), default=0)
                if time.monotonic() - begun_at > patience_s:
                    raise self._refusal(str(error)) from None
            time.sleep(0.05)
        major = driver(connection).server_version // 10_000
        if major < OLDEST_MAJOR:
            connection.close()
            raise Refusal(
                f"PostgreSQL at {self.label} is version {major}, "
                f"{OLDEST_MAJOR} is the oldest that will do; upgrade it or leave out --dsn"
            )
        return connection

    def _refusal(self, message: str) -> Refusal:
        user = self.parameters.get("user") or "the default user"
        if "password authentication failed" in message or "no password supplied" in message:
            return WrongPassword(
                f"PostgreSQL at {self.label} refused the password of {user}; set PGPASSWORD or correct --dsn"
            )
        if "database" in message and "does not exist" in message:
            how = "lrb load --database" if self.embedded else "createdb"
            return Refusal(
                f"{self.label if self.embedded else f'PostgreSQL at {self.label}'} has no database {self.database}; "
                f'make it with "{how} {shlex.quote(self.database)}", or name another'
            )
        if "FATAL:" in message:
            reason = message.rsplit("FATAL:", 1)[1].strip()
            if password := self.parameters.get("password"):
                reason = reason.replace(password, "***")
            return Refusal(f"PostgreSQL at {self.label} refused the connection: {reason}")
        if self.embedded:
            return Unreachable('the embedded PostgreSQL does not answer; start it with "lrb db start"')
        return Unreachable(
            f"cannot reach PostgreSQL at {self.label}; start it{self._compose_hint()}, correct --dsn, "
            "or leave out --dsn and unset the PG* variables for the embedded one"
        )

    def _compose_hint(self) -> str:
        """How to start it, if it may be the server of compose.yaml."""
        hosts, port = COMPOSE
        may_be = self.parameters.get("host") in hosts and self.parameters.get("port", port) == port
        return ' (that of compose.yaml with "docker compose up -d db")' if may_be else ""


def _raise_driver_error(context: ExceptionContext) -> None:
    """In place of SQLAlchemy's error, whose text repeats the statement."""
    if isinstance(context.original_exception, psycopg2.Error):
        raise context.original_exception


def given_target(dsn: str | None, database: str | None = None) -> Target | None:
    """The server that --dsn or the PG* variables name; None if they name none."""
    named = {name: value for name in WHERE_VARIABLES if (value := os.environ.get(name))}
    if dsn is None and not named:
        return None
    try:
        parameters = parse_dsn(dsn or "")
    except psycopg2.ProgrammingError:
        # The text of the error quotes the string, which may hold a password.
        raise Refusal(
            "--dsn is neither a URL (postgresql://user@host:5432/database) "
            "nor key=value pairs (host=localhost dbname=postgres)"
        ) from None
    if "service" in parameters or "PGSERVICE" in named:
        return Target(parameters).on(database)
    environment = {key: value for name, key in VARIABLES.items() if (value := os.environ.get(name))}
    return Target({**environment, **parameters}).on(database)


def find_target(dsn: str | None, durability: Durability | None = None, database: str | None = None) -> Target:
    """The server that `dsn` or the PG* variables name, or else the embedded one, started if need be.

    With a durability, the embedded server runs in that profile; otherwise it is taken as it runs.  A database that it
    lacks is made.
    """
    if target := given_target(dsn, database):
        return target
    from polling_baseline.database.embedded.server import ensure_running

    target = ensure_running(durability).target
    if database:
        _make_database(target, database)
    return target.on(database)


def _make_database(target: Target, name: str) -> None:
    with target.open().execution_options(isolation_level="AUTOCOMMIT") as session:
        known = execute(session, "SELECT oid FROM pg_catalog.pg_database WHERE datname = :name", name=name)
        if known.first() is None:
            # Two commands may make it at the same moment.
            with suppress(psycopg2.errors.DuplicateDatabase, psycopg2.errors.UniqueViolation):
                execute_script(session, f"CREATE DATABASE {quoted(session, name)} TEMPLATE template0")
