"""lr.journey(xway, from_seg, to_seg, day_of_week, minute_of_day); its edges are tested with lr.answer_travel_times"""

from __future__ import annotations

import pytest

from polling_baseline.spec import DAY_MINUTES, EAST, NO_TRAVEL_TIME, WEST


@pytest.fixture
def journey(sql):
    def journey(from_seg, to_seg, minute=1):
        call = "lr.journey(0::smallint, %s::smallint, %s::smallint, 1::smallint, %s::smallint)"
        return sql(f"SELECT travel_s, toll FROM {call}", from_seg, to_seg, minute)

    return journey


def test_a_journey_of_no_segment(journey):
    assert journey(5, 5) == [(0, 0)]


def test_no_history(journey):
    assert journey(5, 6) == [(NO_TRAVEL_TIME, NO_TRAVEL_TIME)]


@pytest.mark.parametrize(("from_seg", "to_seg", "dir"), [(5, 6, EAST), (5, 4, WEST)])
def test_one_segment(journey, add, from_seg, to_seg, dir):
    add("lr_history.segment_average", seg=from_seg, minute=1, dir=dir, lav_sum=30, cars_sum=51)
    assert journey(from_seg, to_seg) == [(120, 2)]


def test_the_second_segment_is_reached_a_minute_later_and_a_day_later(journey, add):
    add("lr_history.segment_average", seg=5, minute=DAY_MINUTES, lav_sum=60)
    add("lr_history.segment_average", seg=6, minute=1, day_of_week=2, lav_sum=10)
    assert journey(5, 7, DAY_MINUTES) == [(420, 0)]


def test_a_segment_where_all_stand(journey, add):
    add("lr_history.segment_average", seg=5, minute=1, lav_sum=0)
    assert journey(5, 6) == [(NO_TRAVEL_TIME, NO_TRAVEL_TIME)]
