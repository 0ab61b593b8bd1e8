"""Builds the schemas of a run from `sql/` and `stored_procs/`.

The files say `lr`; `source` gives the same for another worker's schema.
The files say CREATE UNLOGGED TABLE; for logged tables `source` makes that CREATE TABLE, here and nowhere else.
History is no part of this: it lives in schema `lr_history`, which the load builds and which survives an install.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import psycopg2

from polling_baseline import spec
from polling_baseline.database.designs import DEFAULT_DESIGN, find_design
from polling_baseline.database.roles import OWNER
from polling_baseline.database.session import execute, execute_script, transaction
from polling_baseline.database.settings import OFF, Durability
from polling_baseline.project import ROOT
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from sqlalchemy import Connection

# Whoever else locks a table for so long ends an install, or a run.
LOCK_TIMEOUT_S = 10


def install(
    connection: Connection,
    *,
    durability: Durability = OFF,
    workers: int = 1,
    design: str = DEFAULT_DESIGN,
    options: Mapping[str, str] = MappingProxyType({}),
    triggers: str | None = None,
    roles: bool = False,
    token: str = "",
) -> None:
    """Drop and build every worker's schema, in one transaction; `triggers` adds the triggers of that granularity.

    `options` are those of the design; triggers build on the default design.
    With `roles`, everything belongs to lr_owner, and lr_driver may use what it needs.  `token` is what `installed`
    gives from then on.
    """
    tables, routines = find_design(design).files(ROOT, options)
    files = [*sorted((ROOT / "sql").glob("*.sql")), *tables]
    files += [*_routines("functions"), *_routines("procedures"), *routines]
    files += _routines(f"triggers/{triggers}") if triggers else []
    files += sorted((ROOT / "sql" / "rights").glob("*.sql" if roles else "010_*.sql"))
    with transaction(connection):
        # A routine may call another that comes later.
        execute(connection, "SET LOCAL check_function_bodies = off")
        execute(connection, f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT_S}s'")
        execute(connection, "SET LOCAL client_min_messages = warning")
        execute(connection, "SET LOCAL search_path = pg_catalog, pg_temp")
        _drop(connection)
        if roles:
            execute(connection, f"SET LOCAL ROLE {OWNER}")
        for worker in range(workers):
            for file in files:
                _build(connection, file, source(file, durability.logged_tables, schema_of(worker)))
        if token:
            execute(connection, "INSERT INTO lr.run (token) VALUES (:token)", token=token)


def _routines(folder: str) -> list[Path]:
    return sorted((ROOT / "stored_procs" / folder).rglob("*.sql"))


def installed(connection: Connection) -> str | None:
    """The token of the install that the database holds; None if there is none, or a crash has emptied it."""
    with transaction(connection):
        if not execute(connection, "SELECT to_regclass('lr.run') IS NOT NULL").scalar_one():
            return None
        return execute(connection, "SELECT run.token FROM lr.run").scalar()


def check_installed(connection: Connection, engine_facts: Mapping[str, object], server: str) -> None:
    """Refuse a database that does not hold the state of the run that `engine_facts` are of."""
    if installed(connection) != engine_facts.get("token", "none"):
        raise Refusal(
            f"{server} no longer holds the state of this run: another one was begun there, or its "
            "data are gone; start again with lrb run --like"
        )


def schema_of(worker: int) -> str:
    """Where a worker's tables and routines are: `lr`, `lr_1`, `lr_2`, ..."""
    return f"lr_{worker}" if worker else "lr"


def source(file: Path, logged_tables: bool = False, schema: str = "lr") -> str:
    """The text of an SQL file, in that schema."""
    text = file.read_text()
    if logged_tables:
        text = text.replace("CREATE UNLOGGED TABLE", "CREATE TABLE")
    return text if schema == "lr" else re.sub(r"\blr(?=\.)|(?<=SCHEMA )lr\b|(?<=')lr(?=')", schema, text)


def _drop(connection: Connection) -> None:
    """Remove the schemas of an earlier install, however many workers it had."""
    # A worker has an expressway at least.
    schemas = [schema_of(worker) for worker in range(spec.MAX_XWAYS)]
    present = execute(
        connection, "SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname = ANY(:names)", names=schemas
    )
    for schema in present.scalars().all():
        try:
            execute(connection, f"DROP SCHEMA {schema} CASCADE")
        except psycopg2.errors.LockNotAvailable:
            raise Refusal(
                f"another program uses schema {schema} of this database; wait for it, or take another database"
            ) from None
        except psycopg2.errors.InsufficientPrivilege as error:
            raise _not_allowed(error) from None


def _build(connection: Connection, file: Path, script: str) -> None:
    try:
        execute_script(connection, script)
    except psycopg2.errors.InsufficientPrivilege as error:
        raise _not_allowed(error) from None
    except psycopg2.Error as error:
        raise RuntimeError(f"{file.relative_to(ROOT)}: {error}") from error


def _not_allowed(error: psycopg2.Error) -> Refusal:
    return Refusal(f"this user may not build schema lr: {error.diag.message_primary}; grant it, or use another")
