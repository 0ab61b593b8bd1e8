"""The engine on DuckDB gives the right answers: on every hand-made trace, on random roads, however it is driven."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from driver.dataset.folder import SEGMENT_SCHEMA, TOLL_SCHEMA, write_parquet
from polling_baseline.engines.duckdb.engine import DuckDB
from tests.engines.feeding import MakeEngine, Road, faults

# Threads, and the seconds that a batch may have: one, a longer period's, as many as the rules allow.
WAYS = [
    pytest.param(1, 1, id="one-by-one"),
    pytest.param(2, 4, id="two-threads-period-4"),
    pytest.param(1, 29, id="catching-up"),
]
MakeDuckDB = Callable[[int], MakeEngine]


@pytest.fixture
def duckdb_with(tmp_path: Path) -> MakeDuckDB:
    """Engines with so many threads, whose history is in Parquet files as in a data set."""

    def with_threads(threads: int) -> MakeEngine:
        def make(road: Road, _: int) -> DuckDB:
            tolls, segments = tmp_path / "toll.parquet", tmp_path / "segment.parquet"
            toll_rows = [dict(zip(TOLL_SCHEMA.names, (*key, tolls), strict=True)) for key, tolls in road.toll_history.items()]
            write_parquet(pa.Table.from_pylist(toll_rows, TOLL_SCHEMA), tolls)
            segment_rows = [dict(zip(SEGMENT_SCHEMA.names, row, strict=True)) for row in road.segment_history]
            write_parquet(pa.Table.from_pylist(segment_rows, SEGMENT_SCHEMA), segments)
            return DuckDB([tolls], [segments], threads)

        return make

    return with_threads


@pytest.mark.parametrize(("threads", "longest"), WAYS)
def test_short_roads(duckdb_with: MakeDuckDB, threads: int, longest: int) -> None:
    assert faults(duckdb_with(threads), 1, longest, long=False) == {}


def test_long_roads(duckdb_with: MakeDuckDB) -> None:
    assert faults(duckdb_with(2), 1, 29, long=True) == {}
