"""lr.answer_travel_times()"""

from __future__ import annotations

import pytest

from polling_baseline.spec import (
    BALANCE,
    DAY_MINUTES,
    EAST,
    EXPENDITURE,
    FREE_CARS,
    FREE_FLOW_MPH,
    NO_TRAVEL_TIME,
    SEGMENTS,
    TRAVEL_TIME,
    WEEK_DAYS,
    WEST,
)

NONE = (NO_TRAVEL_TIME, NO_TRAVEL_TIME)


@pytest.fixture
def average(add):
    """`average(seg, minute, lav_sum)` is one row of history; a day of the week has one day unless said otherwise."""

    def average(seg, minute, lav_sum, **rest):
        add("lr_history.segment_average", seg=seg, minute=minute, lav_sum=lav_sum, **rest)

    return average


@pytest.fixture
def travel(sql, add):
    """Seconds and toll of one journey."""

    def travel(from_seg, to_seg, **request):
        add("lr.request", kind=TRAVEL_TIME, request_second=100, from_seg=from_seg, to_seg=to_seg, **request)
        sql("CALL lr.answer_travel_times()")
        [(second, query_id, *answer)] = sql("SELECT request_second, query_id, travel_s, toll FROM lr.travel_time")
        assert (second, query_id) == (100, 1)
        return tuple(answer)

    return travel


@pytest.mark.parametrize("seg", [0, SEGMENTS - 1])
def test_from_a_segment_to_itself(travel, seg):
    assert travel(seg, seg) == (0, 0)


@pytest.mark.parametrize(
    ("from_seg", "to_seg", "dir", "driven"),
    [
        pytest.param(0, 1, EAST, [0], id="the-last-segment-is-not-driven"),
        pytest.param(97, 99, EAST, [97, 98], id="east"),
        pytest.param(2, 0, WEST, [2, 1], id="west"),
    ],
)
def test_the_segments_driven(travel, average, from_seg, to_seg, dir, driven):
    for minute, seg in enumerate(driven, start=1):
        average(seg, minute, 60, dir=dir)
    assert travel(from_seg, to_seg) == (60 * len(driven), 0)


@pytest.mark.parametrize(
    "missing",
    [
        pytest.param({"seg": 1}, id="segment"),
        pytest.param({"minute": 2}, id="minute"),
        pytest.param({"dir": WEST}, id="direction"),
        pytest.param({"xway": 1}, id="expressway"),
        pytest.param({"day_of_week": 2}, id="day-of-the-week"),
    ],
)
def test_no_history(travel, average, missing):
    average(**{"seg": 0, "minute": 1, "lav_sum": 60, **missing})
    assert travel(0, 1) == NONE


@pytest.mark.parametrize("standing", [0, 1, 2])
def test_where_all_stand_nobody_arrives(travel, average, standing):
    for seg in range(3):
        average(seg, seg + 1, 0 if seg == standing else 60, cars_sum=FREE_CARS + 1)
    assert travel(0, 3) == NONE


@pytest.mark.parametrize(
    ("minute", "day_of_week", "next_minute", "next_day"),
    [
        (DAY_MINUTES - 1, 1, DAY_MINUTES, 1),
        (DAY_MINUTES, 1, 1, 2),
        (DAY_MINUTES, WEEK_DAYS - 1, 1, WEEK_DAYS),
        (DAY_MINUTES, WEEK_DAYS, 1, 1),
    ],
)
def test_after_the_last_minute_comes_the_next_day(travel, average, minute, day_of_week, next_minute, next_day):
    average(0, minute, 60, day_of_week=day_of_week)
    average(1, next_minute, 30, day_of_week=next_day)
    assert travel(0, 2, minute_of_day=minute, day_of_week=day_of_week) == (60 + 120, 0)


def test_a_journey_of_more_than_a_day(travel, average):
    for seg in range(26):
        elapsed = 60 * seg
        average(seg, elapsed % DAY_MINUTES + 1, 1, day_of_week=1 + elapsed // DAY_MINUTES)
    assert travel(0, 26) == (26 * 3600, 0)


def test_three_thirds_of_a_minute_are_a_minute(travel, average):
    for seg in range(3):
        average(seg, 1, 180)
    average(3, 2, 60)
    assert travel(0, 4) == (120, 0)


@pytest.mark.parametrize(
    ("lav_sum", "days", "seconds"),
    [
        pytest.param(60 + 30, 2, 80, id="the-mean-of-the-speeds"),
        pytest.param(32, 1, 113, id="112.5-is-rounded-up"),
        pytest.param(7, 1, 514, id="514.29-is-rounded-down"),
    ],
)
def test_travel_time(travel, average, lav_sum, days, seconds):
    average(0, 1, lav_sum, days=days)
    assert travel(0, 1) == (seconds, 0)


@pytest.mark.parametrize(
    ("cars_sum", "lav_sum", "days", "toll"),
    [
        pytest.param(FREE_CARS, FREE_FLOW_MPH - 1, 1, 0, id="not-crowded"),
        pytest.param(FREE_CARS + 1, FREE_FLOW_MPH - 1, 1, 2, id="one-too-many"),
        pytest.param(FREE_CARS + 1, FREE_FLOW_MPH, 1, 0, id="flowing"),
        pytest.param(2 * FREE_CARS + 1, 2 * FREE_FLOW_MPH - 1, 2, 1, id="a-half-is-rounded-up"),
        pytest.param(3 * FREE_CARS + 1, 3 * FREE_FLOW_MPH - 1, 3, 0, id="2/9-is-rounded-down"),
    ],
)
def test_toll(travel, average, cars_sum, lav_sum, days, toll):
    average(0, 1, lav_sum, cars_sum=cars_sum, days=days)
    assert travel(0, 1)[1] == toll


def test_tolls_are_rounded_after_they_are_added_up(travel, average):
    for seg, minute in ((0, 1), (1, 3)):
        average(seg, minute, 2 * 30, cars_sum=2 * FREE_CARS + 1, days=2)
    # Twice a half, not twice a half rounded up.
    assert travel(0, 2) == (240, 1)


@pytest.mark.parametrize("kind", [BALANCE, EXPENDITURE])
def test_other_requests_are_left_alone(sql, add, kind):
    add("lr.request", kind=kind)
    sql("CALL lr.answer_travel_times()")
    assert sql("SELECT query_id FROM lr.travel_time") == []


def test_each_request_has_its_answer(sql, add, average):
    average(0, 1, 60)
    for from_seg, to_seg in ((0, 1), (0, 1), (5, 5), (0, 2)):
        add("lr.request", kind=TRAVEL_TIME, from_seg=from_seg, to_seg=to_seg)
    sql("CALL lr.answer_travel_times()")
    found = sql("SELECT query_id, travel_s FROM lr.travel_time ORDER BY 1, 2")
    assert found == [(1, -1), (1, 0), (1, 60), (1, 60)]
