"""A run remembers its server, without password: `--like` and `--resume` find it again, or say where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from driver.cli import main
from driver.dataset.import_ import ImportOptions, import_dataset
from driver.history.load import loaded_identity
from polling_baseline.database.connection import Target
from polling_baseline.database.embedded.server import Server, status
from polling_baseline.database.settings import OFF
from tests import traces
from tests.conftest import clone, state_folder


def dsn_of(target: Target) -> str:
    return " ".join(f"{key}='{value}'" for key, value in target.parameters.items())


def facts(run: Path) -> dict:
    return json.loads((run / "run.json").read_text())


def server_of(run: Path) -> dict:
    return facts(run)["environment"]["engine"]["server"]


def change(run: Path, **server: object) -> None:
    """Let it remember something else."""
    found = facts(run)
    found["environment"]["engine"]["server"] |= server
    (run / "run.json").write_text(json.dumps(found))


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("server") / "road"
    lines = traces.FOLDER / "three_cars" / "input.csv"
    import_dataset(ImportOptions([lines]), folder)
    return folder


@pytest.fixture(scope="module")
def given(server: Server, template: str) -> Iterator[Target]:
    """A database on a server that is given: it happens to be the embedded one, by its socket."""
    with clone(server, template) as target:
        yield Target({**target.parameters, "password": "hush-hush", "sslmode": "prefer"})


@pytest.fixture
def first(spark, given: Target, road: Path, tmp_path: Path) -> Path:
    words = ["--clock", "virtual", "--to-minute", "1", "--dsn", dsn_of(given), "--out", str(tmp_path / "first")]
    assert main(["run", str(road), *words]) == 0
    return tmp_path / "first"


def test_what_is_remembered(first: Path, given: Target, server: Server) -> None:
    assert server_of(first) == {
        "embedded": False,
        "host": str(server.socket_folder),
        "port": 5432,
        "database": given.database,
        "user": "postgres",
        "version": server.version,
        "dsn": server_of(first)["dsn"],
    }
    assert "sslmode=prefer" in server_of(first)["dsn"]
    for file in first.iterdir():
        assert "hush-hush" not in file.read_text()


def test_like_goes_to_the_same_server(first: Path, given: Target, road: Path, tmp_path: Path, capfd) -> None:
    again = tmp_path / "again"
    assert main(["run", "--like", str(first), "--out", str(again)]) == 0
    assert server_of(again)["database"] == given.database
    assert server_of(again)["embedded"] is False
    assert f"/{given.database}, as {first} was" in capfd.readouterr().err
    # What it cannot reach as before it does not replace by something else.
    change(first, dsn=server_of(first)["dsn"].replace("port=5432", "port=1"), host="db.example", port=1)
    assert main(["run", "--like", str(first)]) == 1
    said = capfd.readouterr().err
    assert f"{first} was on db.example:1/{given.database}; give --dsn (cannot reach" in said
    assert main(["run", "--like", str(first), "--dsn", dsn_of(given), "--out", str(tmp_path / "third")]) == 0
    # An engine without a server needs none.
    assert main(["run", "--like", str(first), "--engine", "aurora", "--out", str(tmp_path / "aurora")]) == 0


def test_variables_that_name_another_server(first: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("PGHOST", "elsewhere.example")
    assert main(["run", "--like", str(first)]) == 1
    assert "and PGHOST names another server; unset it, or give --dsn" in capsys.readouterr().err
    change(first, embedded=True, dsn=None, database="postgres")
    assert main(["run", "--like", str(first)]) == 1
    assert f"{first} was on the embedded PostgreSQL, database postgres, and PGHOST" in capsys.readouterr().err


def test_like_takes_the_database_of_the_embedded_server(spark, server: Server, road: Path, tmp_path: Path) -> None:
    words = ["--clock", "virtual", "--to-minute", "1", "--database", "ann", "--out", str(tmp_path / "first")]
    assert main(["run", str(road), *words]) == 0
    assert main(["run", "--like", str(tmp_path / "first"), "--out", str(tmp_path / "again")]) == 0
    found = server_of(tmp_path / "again")
    assert (found["embedded"], found["dsn"], found["database"]) == (True, None, "ann")


def test_a_run_of_before_remembers_nothing(first: Path, server: Server, tmp_path: Path) -> None:
    found = facts(first)
    del found["environment"]["engine"]["server"]
    (first / "run.json").write_text(json.dumps(found))
    assert main(["run", "--like", str(first), "--out", str(tmp_path / "again")]) == 0
    assert server_of(tmp_path / "again")["embedded"] is True


def test_a_data_set_that_was_moved(first: Path, road: Path, given: Target, tmp_path: Path, capsys) -> None:
    found = facts(first)
    found["config"]["dataset"] = str(road) + "-before"
    (first / "run.json").write_text(json.dumps(found))
    assert main(["run", "--like", str(first)]) == 1
    assert f"give its place: lrb run --like {first} DATASET" in capsys.readouterr().err
    assert main(["run", "--like", str(first), str(road), "--out", str(tmp_path / "again")]) == 0


def broken(first: Path, **server: object) -> Path:
    """The run as if it could be resumed, as far as it knows."""
    found = facts(first)
    found["state"], found["config"]["durability"] = "broken", "on"
    found["environment"]["engine"]["token"] = "another"
    found["environment"]["engine"]["server"] |= server
    (first / "run.json").write_text(json.dumps(found))
    return first


def test_resume_changes_nothing_where_the_state_is_not(first: Path, given: Target, server: Server, capsys) -> None:
    before = pid_of(server), history_in(server.target), history_in(given)
    assert main(["run", "--resume", str(broken(first))]) == 1
    assert "no longer holds the state of this run" in capsys.readouterr().err
    # The embedded one runs with durability off: it is asked as it is.
    assert main(["run", "--resume", str(broken(first, embedded=True, dsn=None, database="postgres"))]) == 1
    said = capsys.readouterr().err
    assert "the embedded PostgreSQL no longer holds the state of this run" in said and "restarting" not in said
    running = status()
    assert running and running.durability is OFF
    assert (pid_of(server), history_in(server.target), history_in(given)) == before
    assert main(["run", "--resume", str(broken(first, dsn="host=127.0.0.1 port=1 dbname=lr", embedded=False))]) == 1
    assert "give --dsn (cannot reach PostgreSQL at 127.0.0.1:1" in capsys.readouterr().err


def test_resume_makes_no_server(first: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    with state_folder() as folder:
        monkeypatch.setenv("LRB_STATE", str(folder))
        assert main(["run", "--resume", str(broken(first, embedded=True, dsn=None, database="postgres"))]) == 1
        assert f"there is no embedded PostgreSQL in {folder}/postgresql; set LRB_STATE" in capsys.readouterr().err
        assert not (folder / "postgresql" / "data").exists()


def pid_of(server: Server) -> str:
    return (server.home.data / "postmaster.pid").read_text().splitlines()[0]


def history_in(target: Target) -> str | None:
    with target.open() as connection:
        return loaded_identity(connection)
