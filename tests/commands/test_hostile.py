"""Strings that would do harm if they became SQL, in every option that reaches the database: they do none."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path

import pytest

from driver.cli import main
from driver.dataset.import_ import ImportOptions, import_dataset
from polling_baseline.database.embedded.server import Server, ensure_running
from tests import traces
from tests.conftest import Lrb, refused

INJECTION = "x'; DROP SCHEMA lr_history CASCADE; -- \" $$ %s %(a)s {} \\"


def count(server: Server, query: str) -> int:
    with closing(server.target.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        [(number,)] = cursor.fetchall()
        return int(number)


@pytest.fixture
def road(tmp_path: Path) -> Path:
    folder = tmp_path / f"{INJECTION}\n{INJECTION}"
    files = [traces.FOLDER / "no_data" / "input.csv"]
    import_dataset(ImportOptions(files), folder)
    return folder


def test_names_of_data_sets_and_runs(server: Server, spark, road: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = road.with_name(INJECTION + "run")
    words = ["run", str(road), "--clock", "virtual", "--to-minute", "1", "--out", str(run)]
    assert main(words) == 0, capsys.readouterr().err
    assert json.loads((run / "run.json").read_text())["state"] == "complete"
    # The run may have moved the session's server to other settings.
    running = ensure_running()
    assert count(running, "SELECT count(*) FROM lr_history.source WHERE strpos(name, 'DROP SCHEMA') > 0") == 1
    assert "is complete" in refused_in_process(capsys, "run", "--resume", run)
    assert "is not a run" in refused_in_process(capsys, "run", "--like", run.with_name(INJECTION))


def test_a_name_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / os.fsdecode(b"road-\xff")
    files = traces.FOLDER / "no_data" / "input.csv"
    assert "road-\\xff is not text" in refused_in_process(capsys, "import", files, "--out", folder)
    assert "is not text" in refused_in_process(capsys, "run", folder)


def refused_in_process(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    capsys.readouterr()
    assert main([str(word) for word in words]) == 1
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        pytest.param("dbname", "has no database", id="database"),
        pytest.param("user", "refused the connection", id="user"),
        pytest.param("options", "refused the connection", id="options"),
        pytest.param("host", "cannot reach PostgreSQL", id="host"),
        pytest.param("port", "", id="port"),
        pytest.param("application_name", None, id="application"),
    ],
)
def test_dsns(server: Server, lrb: Lrb, key: str, sentence: str | None) -> None:
    parameters = {**server.target.parameters, key: INJECTION}
    quoted = {name: value.replace("\\", "\\\\").replace("'", "\\'") for name, value in parameters.items()}
    done = lrb("db", "roles", "--dsn", " ".join(f"{name}='{value}'" for name, value in quoted.items()))
    if sentence is None:
        assert done.returncode == 0, done.stderr
    else:
        assert sentence in refused(done)
    assert count(server, "SELECT count(*) FROM pg_database WHERE datname = 'postgres'") == 1


def test_a_database_whose_name_needs_quotes(server: Server, lrb: Lrb) -> None:
    """What `lrb db roles` prints for it can be run as it is."""
    name = 'odd "; DROP ROLE lr_owner; --'
    quoted = name.replace('"', '""')
    connection = server.target.connect()
    connection.autocommit = True
    with closing(connection), connection.cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{quoted}"')
        try:
            parameters = {**server.target.parameters, "dbname": name}
            done = lrb("db", "roles", "--dsn", " ".join(f"{key}='{value}'" for key, value in parameters.items()))
            grants = [line for line in done.stdout.splitlines() if line.startswith("GRANT CREATE")]
            assert grants == [f'GRANT CREATE ON DATABASE "{quoted}" TO "lr_owner";']
            for statement in done.stdout.splitlines():
                if not statement.startswith("--"):
                    cursor.execute(statement)
        finally:
            cursor.execute(f'DROP DATABASE "{quoted}"')
