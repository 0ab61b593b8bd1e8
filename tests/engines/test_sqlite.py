"""The engine on SQLite gives the right answers: on every hand-made trace, on random roads, however it is driven."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from driver.cli import main
from driver.dataset.folder import SEGMENT_SCHEMA, TOLL_SCHEMA, write_columns
from driver.dataset.import_ import ImportOptions, import_dataset
from polling_baseline import spec
from polling_baseline.engine import EngineFailure
from polling_baseline.engines.sqlite.engine import SQLite
from tests.engines.feeding import LEDGER_STEPS, MakeEngine, Road, answers_of, batches, faults
from tests.support import oracle


@pytest.fixture
def make_engine(tmp_path: Path) -> MakeEngine:
    """Engines whose history is in Parquet files, as in a data set."""

    def sqlite(road: Road, _: int) -> SQLite:
        tolls, segments = tmp_path / "toll.parquet", tmp_path / "segment.parquet"
        write_rows(tolls, TOLL_SCHEMA, [(*key, amount) for key, amount in road.toll_history.items()])
        write_rows(segments, SEGMENT_SCHEMA, road.segment_history)
        return SQLite([tolls], [segments])

    return sqlite


def write_rows(path: Path, schema: pa.Schema, rows: Sequence[Sequence[int]]) -> None:
    columns = np.array(rows, np.int64).reshape(len(rows), len(schema)).T
    write_columns(path, schema, list(columns))


@pytest.mark.parametrize("longest", [1, 4, 29], ids=["one-by-one", "period-4", "catching-up"])
def test_short_roads(make_engine: MakeEngine, longest: int) -> None:
    assert faults(make_engine, 1, longest, long=False) == {}


def test_long_roads(make_engine: MakeEngine) -> None:
    assert faults(make_engine, 1, 29, long=True) == {}


def report(second: int, vehicle_id: int, seg: int, position_ft: int) -> tuple[int, ...]:
    return (spec.REPORT, second, vehicle_id, 20, 0, 1, spec.EAST, seg, position_ft, *[spec.UNUSED] * 6)


def answers_by_kind(make_engine: MakeEngine, lines: list[tuple[int, ...]], longest: int) -> list[list[tuple[int, ...]]]:
    """The answers, which must be the right ones, in a list for each kind."""
    road = Road(sorted(lines, key=lambda line: line[1]), {}, [])
    found = answers_of(make_engine, road, 1, longest)
    assert found == Counter(oracle.answers(road.lines, {}, []))
    return [sorted(answer[1:] for answer in found if answer[0] == kind) for kind in range(len(spec.ANSWERS))]


@pytest.mark.parametrize(("fourth", "accidents"), [(99, 1), (100, 0)])
def test_a_stop_ends_in_the_second_before_the_next_report(make_engine: MakeEngine, fourth: int, accidents: int) -> None:
    """Car 1 stands from second 90 on and reports from elsewhere in second 100; car 2 stands there from `fourth` on."""
    lines = [report(second, 1, 0, 500) for second in (0, 30, 60, 90)] + [report(100, 1, 1, 6000)]
    lines += [report(fourth - 30 * ago, 2, 0, 500) for ago in range(4)] + [report(130, 3, 0, 100)]
    assert len(answers_by_kind(make_engine, lines, 29)[spec.ANSWERS.index("accident")]) == accidents


@pytest.mark.parametrize("longest", [1, 29])
def test_a_balance_is_that_of_its_second(make_engine: MakeEngine, longest: int) -> None:
    """A toll is assessed in second 95, on a trip whose end is seen in second 125, between requests of one cycle."""
    lines = [report(second, 100 + second, 0, second) for second in range(spec.FREE_CARS + 1)]
    lines += [report(65, 1, 0, 100), report(95, 1, 1, 6000)]
    requests = (94, 95, 122, 124, 125, 130)
    unused = [spec.UNUSED] * 6
    lines += [(spec.BALANCE, second, 1, *unused, second, *unused[1:]) for second in requests]
    balances = answers_by_kind(make_engine, lines, longest)[spec.ANSWERS.index("balance")]
    assert [balance for *_, balance in balances] == [0, 2, 2, 2, 2, 2]


def test_any_thread_may_hand_over_a_batch(make_engine: MakeEngine) -> None:
    """On the real clock it is another one than that of the install."""
    engine = make_engine(Road([], {}, []), 1)
    engine.install()
    with ThreadPoolExecutor() as pool:
        pool.submit(engine.process, next(batches([report(0, 1, 0, 100)], 1, 1))).result()
    assert [answers.kind for answers in engine.answers()] == ["toll"]
    engine.stop()


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of two minutes, without history."""
    folder = tmp_path_factory.mktemp("sqlite")
    lines = [f"0,{second},{second % 30},50,0,1,0,0,100,-1,-1,-1,-1,-1,-1\n" for second in range(120)]
    (folder / "cars.csv").write_text("".join([*lines, "3,119,1,-1,0,-1,-1,-1,-1,7,-1,-1,-1,-1,2\n"]))
    import_dataset(ImportOptions([folder / "cars.csv"]), folder / "road")
    return folder / "road"


def test_a_run(road: Path, tmp_path: Path) -> None:
    """The steps are those of polling; there is nothing to load before, and one worker on any machine."""
    run = tmp_path / "run"
    assert main(["run", str(road), "--engine", "sqlite", "--clock", "virtual", "--out", str(run)]) == 0
    record = json.loads((run / "run.json").read_text())
    assert record["environment"]["engine"] == {"SQLite": sqlite3.sqlite_version}
    assert record["config"]["workers"] == 1
    assert [answer["received"] for answer in record["answers"].values()] == [30, 0, 0, 1, 0]
    assert tuple(record["cycles"]["steps_mean_ms"]) == ("copy_ms", *LEDGER_STEPS, "commit_ms")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--workers", "2"], "engine sqlite runs on one connection: leave out --workers, or take --engine polling"),
        (["--durability", "on"], "logs nothing: take --durability off, or --engine polling or trigger"),
        (["--train-size", "7"], "engine sqlite has none such"),
    ],
)
def test_refusals(road: Path, capfd: pytest.CaptureFixture[str], options: list[str], sentence: str) -> None:
    assert main(["run", str(road), "--engine", "sqlite", *options]) == 1
    assert sentence in capfd.readouterr().err


def test_a_library_that_is_too_old(
    road: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 23, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.23.1")
    run = tmp_path / "run"
    assert main(["run", str(road), "--engine", "sqlite", "--clock", "virtual", "--out", str(run)]) == 1
    assert "engine sqlite needs SQLite 3.24.0 or newer, and this Python has 3.23.1" in capfd.readouterr().err
    assert not run.exists()


def test_what_the_library_cannot_do_ends_the_run(make_engine: MakeEngine) -> None:
    engine = make_engine(Road([], {}, []), 1)
    engine.install()
    with pytest.raises(EngineFailure, match=r"SQLite .* UNIQUE constraint failed"):
        engine.process(next(batches([report(0, 1, 0, 100)] * 2, 1, 1)))
    engine.stop()
