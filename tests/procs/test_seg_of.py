"""lr.seg_of(segment_id)"""

from __future__ import annotations

import pytest

from polling_baseline.spec import EAST, MAX_XWAYS, SEGMENTS, WEST
from tests.procs.conftest import segment


@pytest.mark.parametrize("seg", [0, 1, SEGMENTS - 1])
@pytest.mark.parametrize(("xway", "dir"), [(0, EAST), (0, WEST), (MAX_XWAYS - 1, WEST)])
def test_seg_of(sql, xway, dir, seg):
    assert sql("SELECT lr.seg_of(%s)", segment(seg, dir, xway)) == [(seg,)]
