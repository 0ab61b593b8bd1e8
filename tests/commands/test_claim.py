"""One run or load at a time has a database; whoever comes second is told who that is, and replaces nothing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from driver.cli import main
from driver.dataset.folder import Dataset
from driver.history.load import loaded_identity
from polling_baseline.database import claim
from polling_baseline.database.claim import claim_database
from polling_baseline.database.connection import Target
from polling_baseline.database.embedded.server import Server
from polling_baseline.refusal import Refusal
from tests.conftest import lrb_command, lrb_options
from tests.support import oracle
from tests.support.one_dataset import Road, one_dataset
from tests.support.random_road import random_history, random_lines


def small_road(folder: Path, seed: int) -> Dataset:
    """One minute with history, and requests for it."""
    lines = [line for line in random_lines(seed) if line[1] < 60]
    history = random_history(seed)
    return one_dataset([Road(lines, *history, oracle.answers(lines, *history))], folder)[0]


@pytest.fixture(scope="module")
def roads(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dataset, Dataset]:
    folder = tmp_path_factory.mktemp("claims")
    return small_road(folder / "road", 1), small_road(folder / "other", 2)


@pytest.fixture(autouse=True)
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claim, "WAIT_S", 0.2)


def dsn_of(target: Target) -> str:
    return " ".join(f"{key}='{value}'" for key, value in target.parameters.items())


def history_in(target: Target) -> str | None:
    with target.open() as connection:
        return loaded_identity(connection)


def run_as(target: Target, *statements: str) -> None:
    with closing(target.connect()) as connection, connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def facts(run: Path) -> dict:
    return json.loads((run / "run.json").read_text())


@pytest.fixture
def run_under_way(spark, server: Server, roads: tuple[Dataset, Dataset], tmp_path: Path) -> Iterator[subprocess.Popen]:
    """A run of the first road on the embedded server, on the real clock, in its first seconds."""
    assert main(["load", str(roads[0].path)]) == 0
    options = {**lrb_options({}), "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    del options["capture_output"], options["timeout"]
    with subprocess.Popen(lrb_command("run", roads[0].path, "--out", tmp_path / "first"), **options) as process:
        deadline = time.monotonic() + 180
        while not (tmp_path / "first" / "run.json").exists():
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield process
        process.kill()


def test_nobody_disturbs_a_run(run_under_way, server: Server, roads, tmp_path: Path, capfd) -> None:
    road, other = roads
    # Another data set: a run and a load are refused, and say by whom.
    for words in (["run", "--clock", "virtual", "--out", str(tmp_path / "second")], ["load"]):
        assert main([*words, str(other.path)]) == 1
        said = capfd.readouterr().err
        holder = (
            rf"lrb run road {run_under_way.pid}@\S+ since \d\d \w+ \d\d:\d\dZ \(user postgres, server process \d+\)"
        )
        assert re.search(f"database postgres of the embedded PostgreSQL is in use by {holder}; wait", said), said
        assert "or take another database: --database NAME" in said
    assert not (tmp_path / "second").exists()
    assert main(["db", "status"]) == 0
    assert "in use by lrb run road" in capfd.readouterr().out
    # In a database of its own it simply works, beside the first.
    words = ["run", str(other.path), "--clock", "virtual", "--database", "its own", "--out", str(tmp_path / "beside")]
    assert main(words) == 0, capfd.readouterr().err
    assert facts(tmp_path / "beside")["environment"]["engine"]["server"]["database"] == "its own"
    assert history_in(server.target.on("its own")) == other.identity
    # The first one had its history all the time.
    assert history_in(server.target) == road.identity
    run_under_way.send_signal(signal.SIGINT)
    assert run_under_way.wait(60) == 2
    assert facts(tmp_path / "first")["state"] == "interrupted"
    run_as_autocommit(server.target, 'DROP DATABASE "its own"')


def run_as_autocommit(target: Target, statement: str) -> None:
    with closing(target.connect()) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        cursor.execute(statement)


def test_on_a_given_server_without_roles(roads, database: Target, spark, tmp_path: Path, capfd) -> None:
    """Where a run would not even notice, it is not disturbed either; and another user reads who it is."""
    run_as(
        database,
        "DROP ROLE IF EXISTS ann, bob",
        "CREATE ROLE ann LOGIN; CREATE ROLE bob LOGIN",
        f"GRANT CREATE ON DATABASE {database.parameters['dbname']} TO ann, bob",
        "DROP SCHEMA lr CASCADE; DROP SCHEMA lr_history CASCADE",
    )
    ann, bob = (Target({**database.parameters, "user": name}) for name in ("ann", "bob"))
    try:
        with closing(claim_database(ann, "run road")):
            for user in (ann, bob):
                assert main(["load", str(roads[1].path), "--dsn", dsn_of(user)]) == 1
                said = capfd.readouterr().err
                assert f"is in use by lrb run road {os.getpid()}@" in said and "(user ann, server process " in said
                assert 'take another database: "createdb NAME", then --database NAME' in said
        # What one has loaded or built is not the other's to replace.
        assert main(["load", str(roads[0].path), "--dsn", dsn_of(ann)]) == 0
        for words in (["load", str(roads[1].path)], ["run", str(roads[0].path), "--out", str(tmp_path / "run")]):
            capfd.readouterr()
            assert main([*words, "--dsn", dsn_of(bob)]) == 1
            said = capfd.readouterr().err
            assert "user bob cannot use database" in said and "its schema lr_history belongs to ann" in said
            assert '("createdb NAME", then --database NAME), or let an administrator say "GRANT ann TO bob"' in said
        assert history_in(ann) == roads[0].identity
    finally:
        run_as(database, "DROP OWNED BY ann, bob", "DROP ROLE ann, bob")


def test_a_user_who_may_make_no_schema(database: Target) -> None:
    run_as(database, "DROP ROLE IF EXISTS visitor", "CREATE ROLE visitor LOGIN", "DROP SCHEMA lr CASCADE")
    run_as(database, "DROP SCHEMA lr_history CASCADE")
    name = database.parameters["dbname"]
    with pytest.raises(Refusal, match=f"may make no schema there; .*GRANT CREATE ON DATABASE {name} TO visitor"):
        claim_database(Target({**database.parameters, "user": "visitor"}), "test")


def test_a_database_that_is_not_there(server: Server, roads, capsys) -> None:
    given = dsn_of(server.target)
    assert main(["run", str(roads[0].path), "--dsn", given, "--database", "no such"]) == 1
    assert "has no database no such; make it with \"createdb 'no such'\"" in capsys.readouterr().err
    assert main(["db", "status", "--database", "no such"]) == 1
    assert "has no database no such; make it with \"lrb load --database 'no such'\"" in capsys.readouterr().err


def test_the_sessions_of_a_killed_run_are_waited_for(database: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its claim is gone, but a cycle is still under way in the server."""
    left = database.open()
    killed = claim_database(database, "run road")
    killed.share(left)
    killed.close()
    with pytest.raises(Refusal, match="in use by lrb run road"):
        claim_database(database, "run other")
    monkeypatch.setattr(claim, "WAIT_S", 10)
    timer = threading.Timer(0.3, left.close)
    timer.start()
    claim_database(database, "run other").close()
    timer.join()


def test_two_claims_at_the_same_moment(database: Target) -> None:
    """Exactly one gets it, and keeps it."""
    got: list[object] = []

    def attempt() -> None:
        try:
            got.append(claim_database(database, "test"))
        except Refusal as refusal:
            got.append(refusal)

    attempts = [threading.Thread(target=attempt) for _ in range(8)]
    for thread in attempts:
        thread.start()
    for thread in attempts:
        thread.join()
    claims = [each for each in got if isinstance(each, claim.Claim)]
    assert (len(got), len(claims)) == (8, 1)
    claims[0].close()


def test_who_it_is_fits_into_a_name() -> None:
    assert len(claim._application("load " + "é" * 100)) <= 63
