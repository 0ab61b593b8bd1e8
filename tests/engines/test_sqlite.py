"""The engine on SQLite gives the right answers: on every hand-made trace, on random roads, however it is driven."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from driver.dataset.folder import SEGMENT_SCHEMA, TOLL_SCHEMA, write_columns
from polling_baseline.engines.sqlite.engine import SQLite
from tests.engines.feeding import MakeEngine, Road, faults


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
