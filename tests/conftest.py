"""What the tests share: a real PostgreSQL, databases on it, and `lrb` as a user types it."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polling_baseline.database.connection import Target
from polling_baseline.database.embedded.server import Server, ensure_running, stop
from polling_baseline.database.install import install, source
from polling_baseline.database.session import execute_script, transaction

ROOT = Path(__file__).resolve().parents[1]
# The files that take longest, first of all: so both halves of `make test` end at the same time.
LONGEST = (
    "commands/test_readme.py",
    "commands/test_cluster.py",
    "engines/test_crashes.py",
    "engines/test_polling.py",
    "commands/test_foreign.py",
    "commands/test_run.py",
    "commands/test_rate.py",
    "commands/test_lesson.py",
    "engines/test_versions.py",
    "engines/test_tables.py",
    "engines/test_designs.py",
    "engines/test_live_judge.py",
    "commands/test_validate.py",
    "engines/test_structured_streaming_crashes.py",
    "engines/test_reference.py",
    "engines/test_duckdb.py",
    "engines/test_trigger.py",
    "commands/test_generate.py",
    "commands/test_db.py",
    "engines/test_duckdb_crashes.py",
    "commands/test_readings.py",
    "engines/test_external.py",
    "engines/test_relabelling.py",
    "commands/test_installed.py",
    "commands/test_digest.py",
    "commands/test_structured_streaming.py",
    "engines/test_structured_streaming.py",
    "commands/test_anatomy.py",
    "commands/test_paths.py",
)
Sql = Callable[..., list[tuple[Any, ...]]]
Lrb = Callable[..., subprocess.CompletedProcess[str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {ROOT / "tests" / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.fixture(scope="session", autouse=True)
def own_environment() -> Iterator[None]:
    """No test meets a server that the user of this machine has set up; only the programs may be chosen."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("PG", "LRB_")) and name != "LRB_PG_BIN"]:
            patch.delenv(name)
        # One small command: Java's quick compiler is enough, and its slow one takes a third of the time.
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        yield


@contextmanager
def state_folder(parent: Path | None = None) -> Iterator[Path]:
    """A folder that any user can reach, as pytest's own are not; its name has a space."""
    folder = Path(tempfile.mkdtemp(prefix="lrb test ", dir=parent))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def server(own_environment: None) -> Iterator[Server]:
    """The embedded PostgreSQL of this test session; the commands that tests run find it too."""
    with state_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("LRB_STATE", str(folder))
        yield ensure_running()
        stop()


@pytest.fixture(scope="session")
def template(server: Server) -> str:
    """A database with schema `lr` and an empty history; nobody stays connected, so that it can be cloned."""
    _execute(server.target, "CREATE DATABASE template_lr")
    with _on(server, "template_lr").open() as session:
        install(session)
        with transaction(session):
            for file in sorted((ROOT / "sql" / "history").glob("*.sql")):
                execute_script(session, source(file))
    return "template_lr"


_numbers = itertools.count(1)


@contextmanager
def clone(server: Server, template: str) -> Iterator[Target]:
    name = f"clone_{next(_numbers)}"
    _execute(server.target, f"CREATE DATABASE {name} TEMPLATE {template}")
    yield _on(server, name)
    _execute(server.target, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def database(server: Server, template: str) -> Iterator[Target]:
    """A database of the test's own, for code that commits."""
    with clone(server, template) as target:
        yield target


@pytest.fixture(scope="session")
def _connection(server: Server, template: str) -> Iterator[Any]:
    with clone(server, template) as target:
        connection = target.connect()
        yield connection
        connection.close()


@pytest.fixture
def cursor(_connection: Any) -> Iterator[Any]:
    """A cursor in a transaction that is rolled back after the test."""
    with _connection.cursor() as cursor:
        yield cursor
    _connection.rollback()


@pytest.fixture
def sql(cursor: Any) -> Sql:
    """`sql("SELECT ... %s", value)` gives rows; rolled back after the test."""

    def run(statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        cursor.execute(statement, parameters or None)
        return cursor.fetchall() if cursor.description else []

    return run


@pytest.fixture
def spark(own_environment: None) -> Any:
    return shared_spark()


def shared_spark() -> Any:
    """The Spark session that all tests share; started anew if a test has ended it."""
    from driver.spark.session import session

    with pytest.MonkeyPatch.context() as patch:
        # It lives for minutes, so it has Java's usual options.
        patch.delenv("JDK_JAVA_OPTIONS", raising=False)
        spark = session("local[2]")
    spark.conf.set("spark.sql.shuffle.partitions", 1)
    # Small data: Spark generates and compiles no code, which takes longer than the work itself.
    spark.conf.set("spark.sql.codegen.wholeStage", False)
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    # Nor does it plan anew after each stage, as it does for commands in processes of their own.
    spark.conf.set("spark.sql.adaptive.enabled", False)
    spark.conf.set("spark.sql.constraintPropagation.enabled", False)
    return spark


@pytest.fixture
def lrb() -> Lrb:
    """`lrb("db", "status")` as a user types it; keyword arguments are environment variables or subprocess options."""

    def run(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(lrb_command(*words), **lrb_options(options))

    return run


def lrb_command(*words: object) -> list[str]:
    return [sys.executable, "-m", "driver.cli", *map(str, words)]


def lrb_options(options: dict[str, Any]) -> dict[str, Any]:
    variables = {name: str(value) for name, value in options.items() if name.isupper()}
    rest = {name: value for name, value in options.items() if not name.isupper()}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return {"capture_output": True, "text": True, "timeout": 600, "env": environment, **rest}


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The sentence, if the command refused as it should."""
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("lrb: ")
    assert "Traceback" not in done.stderr
    return done.stderr


def _on(server: Server, database: str) -> Target:
    return replace(server.target, parameters={**server.target.parameters, "dbname": database})


def _execute(target: Target, statement: str) -> None:
    connection = target.connect()
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(statement)
    connection.close()
