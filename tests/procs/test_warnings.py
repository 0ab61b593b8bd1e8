"""lr.warnings(minute)"""

from __future__ import annotations

import pytest

from polling_baseline.spec import ALERT_SEGMENTS, EAST, SEGMENTS, WEST
from tests.procs.conftest import segment

LAST = SEGMENTS - 1


def warnings(sql, minute=7):
    return dict(sql("SELECT segment_id, accident_seg FROM lr.warnings(%s)", minute))


@pytest.mark.parametrize(
    ("dir", "seg", "warned"),
    [
        pytest.param(EAST, 50, range(50 - ALERT_SEGMENTS, 51), id="east"),
        pytest.param(WEST, 50, range(50, 51 + ALERT_SEGMENTS), id="west"),
        pytest.param(EAST, 0, [0], id="east-at-its-start"),
        pytest.param(EAST, LAST, range(LAST - ALERT_SEGMENTS, LAST + 1), id="east-at-its-end"),
        pytest.param(WEST, LAST, [LAST], id="west-at-its-start"),
        pytest.param(WEST, 0, range(ALERT_SEGMENTS + 1), id="west-at-its-end"),
    ],
)
@pytest.mark.parametrize("xway", [0, 1])
def test_the_segments_upstream_are_warned(sql, add, xway, dir, seg, warned):
    add("lr.accident", minute=7, segment_id=segment(seg, dir, xway))
    assert warnings(sql) == {segment(other, dir, xway): seg for other in warned}


@pytest.mark.parametrize(
    ("dir", "nearest"), [(EAST, {8: 10, 9: 10, 10: 10, 11: 12, 12: 12}), (WEST, {10: 10, 11: 10, 12: 12, 13: 12})]
)
def test_the_nearest_accident_counts(sql, add, dir, nearest):
    for seg in (10, 12):
        add("lr.accident", minute=7, segment_id=segment(seg, dir))
    found = warnings(sql)
    assert {seg: found[segment(seg, dir)] for seg in nearest} == nearest


@pytest.mark.parametrize("minute", [6, 8])
def test_another_minute_does_not_count(sql, add, minute):
    add("lr.accident", minute=minute, segment_id=segment(50))
    assert warnings(sql) == {}


def test_no_accident(sql):
    assert warnings(sql) == {}
