"""The rules of engine structured_streaming, without Spark: every trace and random road, by several shards."""

from __future__ import annotations

from pathlib import Path

import pytest

from driver.dataset.folder import SEGMENT_SCHEMA, TOLL_SCHEMA
from tests.engines.feeding import MakeEngine, Road, faults
from tests.engines.shards_here import ShardsHere
from tests.engines.test_duckdb import write_rows

WAYS = [
    pytest.param(1, 1, 3, id="one-by-one"),
    pytest.param(1, 29, 1, id="catching-up"),
    pytest.param(2, 4, 1, id="two-shards-period-4"),
    pytest.param(5, 29, 1, id="five-shards"),
]


def shards_here(folder: Path, shards: int) -> MakeEngine:
    def make(road: Road, _: int) -> ShardsHere:
        tolls, segments = folder / "toll.parquet", folder / "segment.parquet"
        write_rows(tolls, TOLL_SCHEMA, [(*key, amount) for key, amount in road.toll_history.items()])
        write_rows(segments, SEGMENT_SCHEMA, road.segment_history)
        return ShardsHere(tolls, segments, shards)

    return make


@pytest.mark.parametrize(("shards", "longest", "every"), WAYS)
def test_short_roads(tmp_path: Path, shards: int, longest: int, every: int) -> None:
    assert faults(shards_here(tmp_path, shards), 1, longest, long=False, every=every) == {}


def test_long_roads(tmp_path: Path) -> None:
    assert faults(shards_here(tmp_path, 2), 1, 29, long=True) == {}
