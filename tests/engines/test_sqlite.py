"""The engine on SQLite gives the right answers: on every hand-made trace, on random roads, however it is driven."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
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
from tests.engines.feeding import LEDGER_STEPS, MakeEngine, Road, batches, faults


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
    reports = [(spec.REPORT, 0, 1, 50, 0, 1, 0, 0, 100, *[spec.UNUSED] * 6)] * 2
    with pytest.raises(EngineFailure, match=r"SQLite .* UNIQUE constraint failed"):
        engine.process(next(batches(reports, 1, 1)))
    engine.stop()
