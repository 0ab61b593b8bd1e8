"""lr.sightings(vehicles, from_second, until_second, schema)"""

from __future__ import annotations

import pytest

from tests.procs.conftest import segment

QUERY = "SELECT vehicle_id, report_second FROM lr.sightings(%s::integer[], %s, %s, 'lr') ORDER BY 2, 1"


@pytest.mark.parametrize(
    ("vehicles", "from_second", "until_second", "seen"),
    [
        pytest.param([1], 100, 102, [(1, 100), (1, 102)], id="both-ends"),
        pytest.param([1, 2], 101, 102, [(2, 101), (1, 102)], id="two-vehicles"),
        pytest.param([1, 1], 102, 102, [(1, 102)], id="named-twice"),
        pytest.param([3], 100, 102, [], id="unknown"),
        pytest.param([], 100, 102, [], id="nobody"),
        pytest.param([1], 103, 102, [], id="no-second"),
    ],
)
def test_sightings(sql, add_ring, vehicles, from_second, until_second, seen):
    for vehicle_id, second in [(1, 100), (2, 101), (1, 102), (1, 103), (1, 99)]:
        add_ring(second, vehicle_id=vehicle_id)
    assert sql(QUERY, vehicles, from_second, until_second) == seen


def test_what_is_told(sql, add_ring):
    add_ring(0, segment_id=segment(3), speed_mph=7, tally=-4, counted=False, ended=True, paid=2**40)
    columns = "segment_id, speed_mph, tally, counted, ended, paid"
    [row] = sql(f"SELECT {columns} FROM lr.sightings(ARRAY[1], 0, 0, 'lr')")
    assert row == (segment(3), 7, -4, False, True, 2**40)


def test_before_the_first_second_there_is_nothing(sql, add_ring):
    add_ring(0)
    assert sql(QUERY, [1], -30, 0) == [(1, 0)]
