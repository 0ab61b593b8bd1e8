"""lr.road_id(segment_id)"""

from __future__ import annotations

import pytest

from polling_baseline.spec import EAST, MAX_XWAYS, SEGMENTS, WEST
from tests.procs.conftest import segment


@pytest.mark.parametrize(
    ("xway", "dir", "road"),
    [(0, EAST, 0), (0, WEST, 1), (1, EAST, 2), (MAX_XWAYS - 1, WEST, 2 * MAX_XWAYS - 1)],
)
@pytest.mark.parametrize("seg", [0, SEGMENTS - 1])
def test_road_id(sql, xway, dir, seg, road):
    assert sql("SELECT lr.road_id(%s)", segment(seg, dir, xway)) == [(road,)]
