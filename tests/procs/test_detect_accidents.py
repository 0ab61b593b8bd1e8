"""lr.detect_accidents(minute)"""

from __future__ import annotations

import pytest

from polling_baseline.spec import ACCIDENT_VEHICLES, EAST, MINUTE_S, SEGMENT_FT, SEGMENTS, WEST
from tests.procs.conftest import segment

FIRST, LAST = MINUTE_S, 2 * MINUTE_S - 1  # of minute 2
ROAD = {EAST: 0, WEST: 1}


@pytest.fixture
def detect(sql, add):
    """The segments with an accident in minute 2, for stops given as (from_second, until_second), a car each."""

    def detect(*stops, **place):
        for vehicle_id, (from_second, until_second) in enumerate(stops):
            add("lr.stopped_car", vehicle_id=vehicle_id, from_second=from_second, until_second=until_second, **place)
        sql("CALL lr.detect_accidents(2)")
        return [row for (row,) in sql("SELECT segment_id FROM lr.accident WHERE minute = 2 ORDER BY 1")]

    return detect


@pytest.mark.parametrize("cars", range(5))
def test_it_takes_two_cars(detect, cars):
    assert detect(*[(70, 99)] * cars) == [segment(0)] * (cars >= ACCIDENT_VEHICLES)


@pytest.mark.parametrize(
    ("this", "other", "found"),
    [
        pytest.param((70, 99), (99, 128), True, id="one-second-together"),
        pytest.param((70, 98), (99, 128), False, id="one-after-the-other"),
        pytest.param((FIRST - 29, FIRST), (FIRST - 20, FIRST + 9), True, id="first-second-of-the-minute"),
        pytest.param((FIRST - 30, FIRST - 1), (FIRST - 20, FIRST + 9), False, id="only-in-the-minute-before"),
        pytest.param((LAST - 20, LAST + 9), (LAST, LAST + 29), True, id="last-second-of-the-minute"),
        pytest.param((LAST - 20, LAST + 9), (LAST + 1, LAST + 30), False, id="only-in-the-minute-after"),
    ],
)
def test_they_stand_there_at_once(detect, this, other, found):
    assert detect(this, other) == [segment(0)] * found


@pytest.mark.parametrize("change", [{"road_id": 1}, {"road_id": 2}, {"lane": 2}, {"position_ft": 1}])
def test_they_stand_at_one_place(detect, add, change):
    add("lr.stopped_car", vehicle_id=7, from_second=70, until_second=99, **change)
    assert detect((70, 99)) == []


def test_a_car_does_not_collide_with_itself(detect, add):
    add("lr.stopped_car", vehicle_id=0, from_second=70, until_second=99)
    assert detect((70, 99)) == []


@pytest.mark.parametrize(
    ("position_ft", "seg"),
    [(0, 0), (SEGMENT_FT - 1, 0), (SEGMENT_FT, 1), (SEGMENTS * SEGMENT_FT - 1, SEGMENTS - 1)],
)
@pytest.mark.parametrize("dir", [EAST, WEST])
def test_the_position_tells_the_segment(detect, dir, position_ft, seg):
    assert detect((70, 99), (70, 99), road_id=ROAD[dir], position_ft=position_ft) == [segment(seg, dir)]


def test_two_accidents_in_a_segment_are_one(detect, add):
    for vehicle_id in (7, 8):
        add("lr.stopped_car", vehicle_id=vehicle_id, position_ft=9, from_second=70, until_second=99)
    assert detect((70, 99), (70, 99)) == [segment(0)]


@pytest.mark.parametrize(("until_second", "kept"), [(LAST, False), (LAST + 1, True)])
def test_a_stop_is_kept_while_it_lasts(sql, detect, until_second, kept):
    detect((until_second - 29, until_second))
    assert sql("SELECT until_second FROM lr.stopped_car") == [(until_second,)] * kept


def test_an_accident_may_last_for_two_minutes(sql, detect):
    detect((110, 139), (115, 144))
    sql("CALL lr.detect_accidents(3)")
    assert sql("SELECT minute FROM lr.accident ORDER BY 1") == [(2,), (3,)]
