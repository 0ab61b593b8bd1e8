"""lr.set_tolls(minute)"""

from __future__ import annotations

from decimal import Decimal

import pytest

from polling_baseline.spec import FREE_CARS, FREE_FLOW_MPH, LAV_MINUTES, NO_LAV
from tests.procs.conftest import segment

MINUTE = 10
CROWD = FREE_CARS + 2  # costs 8


def tolls(sql, minute=MINUTE):
    sql("CALL lr.set_tolls(%s)", minute)
    return sql("SELECT segment_id, lav, toll, accident_seg FROM lr.segment_toll ORDER BY 1")


@pytest.mark.parametrize(
    ("minutes", "lav"),
    [
        pytest.param({MINUTE - 1: 39}, 39, id="one-minute"),
        pytest.param({MINUTE - LAV_MINUTES: 20, MINUTE - 1: 30}, 25, id="empty-minutes-are-skipped"),
        pytest.param({MINUTE - LAV_MINUTES - 1: 20, MINUTE - 1: 30}, 30, id="older-minutes-do-not-count"),
        pytest.param({MINUTE - 1: 30, MINUTE: 20}, 30, id="nor-does-the-minute-itself"),
        pytest.param({MINUTE - 2: 39.5, MINUTE - 1: 40.5}, 40, id="minutes-are-not-rounded"),
        pytest.param({MINUTE - 2: 39.5, MINUTE - 1: 40.4}, 39, id="the-mean-is-rounded-down"),
        pytest.param({MINUTE - minute: 0 for minute in range(1, LAV_MINUTES + 1)}, 0, id="all-stand"),
    ],
)
def test_lav(sql, add, minutes, lav):
    for minute, average_mph in minutes.items():
        add("lr.segment_minute", minute=minute, average_mph=average_mph)
    assert tolls(sql) == [(segment(0), lav, 0, None)]


def test_what_a_division_lost_in_the_last_decimal_costs_no_mile(sql, add):
    add("lr.segment_minute", minute=MINUTE - 1, average_mph=Decimal("39." + "9" * 40))
    assert tolls(sql) == [(segment(0), 40, 0, None)]


@pytest.mark.parametrize(
    ("cars", "lav", "toll"),
    [(CROWD, FREE_FLOW_MPH - 1, 8), (CROWD, FREE_FLOW_MPH, 0), (FREE_CARS, FREE_FLOW_MPH - 1, 0)],
)
def test_toll(sql, add, cars, lav, toll):
    add("lr.segment_minute", minute=MINUTE - 1, cars=cars, average_mph=lav)
    assert tolls(sql) == [(segment(0), lav, toll, None)]


def test_a_lav_just_below_40_costs(sql, add):
    add("lr.segment_minute", minute=MINUTE - 1, cars=CROWD, average_mph=39.999)
    assert tolls(sql) == [(segment(0), 39, 8, None)]


def test_only_the_cars_of_the_minute_before_count(sql, add):
    add("lr.segment_minute", minute=MINUTE - 2, cars=CROWD)
    assert tolls(sql) == [(segment(0), 30, 0, None)]


def test_an_accident_ahead_makes_it_free(sql, add):
    add("lr.segment_minute", segment_id=segment(5), minute=MINUTE - 1, cars=CROWD)
    add("lr.segment_minute", segment_id=segment(6), minute=MINUTE - 1, cars=CROWD)
    add("lr.accident", minute=MINUTE - 1, segment_id=segment(5))
    # There is no traffic where four of the five warned segments are.
    assert tolls(sql) == [
        *((segment(seg), NO_LAV, 0, 5) for seg in range(1, 5)),
        (segment(5), 30, 0, 5),
        (segment(6), 30, 8, None),
    ]


@pytest.mark.parametrize("minute", [MINUTE - 2, MINUTE])
def test_an_accident_of_another_minute_does_not_count(sql, add, minute):
    add("lr.segment_minute", minute=MINUTE - 1, cars=CROWD)
    add("lr.accident", minute=minute, segment_id=segment(0))
    assert tolls(sql) == [(segment(0), 30, 8, None)]


def test_the_tolls_of_the_minute_before_go_away(sql, add):
    add("lr.segment_toll", segment_id=segment(7), lav=1, toll=2)
    assert tolls(sql) == []


def test_the_first_minute_has_none(sql):
    assert tolls(sql, 1) == []
