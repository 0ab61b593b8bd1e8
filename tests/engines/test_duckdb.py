"""The engine on DuckDB gives the right answers: on every hand-made trace, on random roads, however it is driven."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from driver.dataset.folder import SEGMENT_SCHEMA, TOLL_SCHEMA, write_columns
from polling_baseline.engines.duckdb import database
from polling_baseline.engines.duckdb.engine import DuckDB
from polling_baseline.engines.duckdb.session import STEPS
from tests import traces
from tests.engines.feeding import MakeEngine, Road, faults, steps_of

# Threads, the seconds that a batch may have (one, a longer period's, as many as the rules allow), and every how many of
# the roads: a cycle takes milliseconds however little there is to do.
WAYS = [
    pytest.param(1, 1, 3, id="one-by-one"),
    pytest.param(2, 4, 1, id="two-threads-period-4"),
    pytest.param(1, 29, 1, id="catching-up"),
]
MakeDuckDB = Callable[[int], MakeEngine]


@pytest.fixture
def duckdb_with(tmp_path: Path) -> MakeDuckDB:
    """Engines with so many threads, whose history is in Parquet files as in a data set."""

    def with_threads(threads: int) -> MakeEngine:
        def make(road: Road, _: int) -> DuckDB:
            tolls, segments = tmp_path / "toll.parquet", tmp_path / "segment.parquet"
            write_rows(tolls, TOLL_SCHEMA, [(*key, amount) for key, amount in road.toll_history.items()])
            write_rows(segments, SEGMENT_SCHEMA, road.segment_history)
            return DuckDB([tolls], [segments], threads)

        return make

    return with_threads


def write_rows(path: Path, schema: pa.Schema, rows: Sequence[Sequence[int]]) -> None:
    columns = np.array(rows, np.int64).reshape(len(rows), len(schema)).T
    write_columns(path, schema, list(columns))


@pytest.mark.parametrize(("threads", "longest", "every"), WAYS)
def test_short_roads(duckdb_with: MakeDuckDB, threads: int, longest: int, every: int) -> None:
    assert faults(duckdb_with(threads), 1, longest, long=False, every=every) == {}


def test_more_balances_than_are_usual(duckdb_with: MakeDuckDB, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a second of hundreds of expressways, for which more rows must be looked up than DuckDB usually may."""
    monkeypatch.setattr(database, "LOOK_UPS", 1)
    assert faults(duckdb_with(1), 1, 29, long=False, every=6) == {}


def test_every_cycle_has_the_same_steps(duckdb_with: MakeDuckDB) -> None:
    """The columns of `cycles.csv` come from here: with and without requests, at a minute's start and later."""
    trace = traces.load("no_history")
    road = Road(trace.lines, trace.toll_history, trace.segment_history)
    assert steps_of(duckdb_with(1), road, 1) == {STEPS}


def test_long_roads(duckdb_with: MakeDuckDB) -> None:
    assert faults(duckdb_with(2), 1, 29, long=True) == {}
