"""The engines on every other PostgreSQL that is here: the older one of the Python package, and the system's.

All other tests run on the newest; `python -m tests.versions` runs more of them on any.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from driver.cli import main
from polling_baseline.database.claim import claim_database
from polling_baseline.database.embedded.binaries import OLDEST_MAJOR, Binaries, all_binaries
from polling_baseline.database.embedded.server import Server, ensure_running, stop
from polling_baseline.database.embedded.server_home import home
from polling_baseline.database.install import ROOT, source
from polling_baseline.database.settings import DIRECT_SINCE, OFF
from polling_baseline.engine import Engine
from polling_baseline.engines.system_x.polling import Polling
from polling_baseline.engines.system_x.trigger import Trigger
from tests import traces
from tests.conftest import state_folder
from tests.engines.feeding import Road, answers_of, fill_history, side_by_side, taken_apart
from tests.support.one_dataset import Road as Lines
from tests.support.one_dataset import one_dataset

NAMES = ("alert_and_toll", "accident_timing", "balance_of_several_xways", "daily_expenditure", "travel_days_of_week")
ENGINES = [("polling", 2), ("row", 1), ("statement", 2)]


def others() -> dict[int, Binaries]:
    """One of each major version but the newest."""
    with state_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("LRB_STATE", str(folder))
        found = {each.major: each for each in all_binaries(home().owner) if each.major >= OLDEST_MAJOR}
    return {major: found[major] for major in sorted(found)[:-1]}


@pytest.fixture(scope="module", params=others().values(), ids=lambda each: f"PostgreSQL {each.version}")
def older(request: pytest.FixtureRequest, own_environment: None) -> Iterator[Server]:
    with state_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("LRB_STATE", str(folder))
        patch.setenv("LRB_PG_BIN", str(request.param.folder))
        running = ensure_running()
        assert running.version == request.param.version
        with closing(running.target.connect()) as connection, connection.cursor() as cursor:
            for file in sorted((ROOT / "sql" / "history").glob("*.sql")):
                cursor.execute(source(file))
            connection.commit()
        yield running
        stop()


def test_there_are_two_major_versions() -> None:
    """The Python package alone has two."""
    assert len(others()) >= 1


@pytest.mark.parametrize(("kind", "workers"), ENGINES)
def test_the_engines_give_the_right_answers(older: Server, kind: str, workers: int) -> None:
    roads = [traces.load(name) for name in NAMES]
    apart = [Road(road.lines, road.toll_history, road.segment_history) for road in roads]

    def make_engine(road: Road, workers: int) -> Engine:
        fill_history(older.target, road)
        claim = claim_database(older.target, "test")
        return Polling(claim, workers, OFF) if kind == "polling" else Trigger(claim, workers, OFF, kind)

    found = taken_apart(answers_of(make_engine, side_by_side(apart), workers, 4), apart)
    assert found == [Counter(road.expected) for road in roads]


def test_commands(older: Server, spark: object, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Load and run, without and with durability, in a database of its own."""
    trace = traces.load("daily_expenditure")
    dataset, _ = one_dataset([Lines(trace.lines, trace.toll_history, trace.segment_history)], tmp_path / "road")
    for durability in ("off", "on"):
        words = ["--clock", "virtual", "--durability", durability, "--database", "own"]
        assert main(["run", str(dataset.path), *words, "--out", str(tmp_path / durability)]) == 0, capfd.readouterr()
        engine = json.loads((tmp_path / durability / "run.json").read_text())["environment"]["engine"]
        assert engine["PostgreSQL"].split()[0] == older.version
        assert (engine["driver"], engine["server"]["database"]) == ("lr_driver", "own")


def test_little_memory_needs_a_version_that_can_bypass_the_cache(
    older: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a server that is refused its memory goes on as it was."""
    status = main(["db", "start", "--memory", "32MB"])
    said = capsys.readouterr()
    if int(older.version.split(".")[0]) >= DIRECT_SINCE:
        assert (status, main(["db", "start", "--memory", "profile"])) == (0, 0), said.err
    else:
        assert status == 1
        assert said.err == f"lrb: --memory needs PostgreSQL {DIRECT_SINCE} or later; this is {older.version}\n"
        assert ensure_running().target == older.target
