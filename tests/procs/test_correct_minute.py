"""lr.correct_minute(minute)"""

from __future__ import annotations

import pytest

from polling_baseline.spec import MINUTE_S
from tests.procs.conftest import segment

FIRST, LAST = MINUTE_S, 2 * MINUTE_S - 1  # of minute 2


@pytest.fixture
def correct(sql, add):
    """What minute 2 gains by segment if vehicle 1 is irregular: cars, and twice the sum of average speeds."""

    def correct():
        add("lr.irregular_vehicle", vehicle_id=1)
        sql("CALL lr.correct_minute(2)")
        return sql("SELECT segment_id, cars, speed_sum FROM lr.segment_tally ORDER BY 1")

    return correct


def test_a_vehicle_in_two_trips_counts_once_at_its_average_speed(correct, add_ring):
    add_ring(FIRST, speed_mph=30, tally=60)
    add_ring(LAST, speed_mph=50, tally=100)
    assert correct() == [(segment(0), -1, 80 - 160)]


def test_three_reports_have_one_average(correct, add_ring):
    add_ring(60, speed_mph=30, tally=60)
    add_ring(75, speed_mph=31, tally=62)
    add_ring(90, speed_mph=33, tally=3, counted=False)
    [(_, cars, speed_sum)] = correct()
    assert cars == -1
    assert round(3 * speed_sum, 20) == 2 * (30 + 31 + 33) - 3 * (60 + 62 + 3)


@pytest.mark.parametrize(
    "reports",
    [
        pytest.param([(60, 30, 60, True)], id="one"),
        pytest.param([(60, 30, 60, True), (90, 41, 11, False)], id="30-s-apart"),
    ],
)
def test_what_was_right_stays(correct, add_ring, reports):
    for second, speed_mph, tally, counted in reports:
        add_ring(second, speed_mph=speed_mph, tally=tally, counted=counted)
    assert correct() == [(segment(0), 0, 0)]


def test_vehicles_are_kept_apart(correct, add, add_ring):
    add("lr.irregular_vehicle", vehicle_id=2)
    for vehicle_id in (1, 2):
        add_ring(60, vehicle_id=vehicle_id)
    assert correct() == [(segment(0), 0, 0)] * 2


def test_segments_are_kept_apart(correct, add_ring):
    add_ring(60, segment_id=segment(0))
    add_ring(75, segment_id=segment(1))
    assert correct() == [(segment(0), 0, 0), (segment(1), 0, 0)]


@pytest.mark.parametrize("second", [FIRST - 1, LAST + 1])
def test_another_minute_does_not_count(correct, add_ring, second):
    add_ring(second)
    assert correct() == []


def test_a_trip_that_ended_is_no_report(correct, add_ring):
    add_ring(60)
    add_ring(75, ended=True)
    assert correct() == [(segment(0), 0, 0)]


def test_a_regular_vehicle_is_left_alone(correct, add_ring):
    add_ring(60, vehicle_id=2)
    add_ring(75, vehicle_id=2)
    assert correct() == []


def test_nobody_is_irregular(sql, add_ring):
    add_ring(60)
    sql("CALL lr.correct_minute(2)")
    assert sql("SELECT segment_id FROM lr.segment_tally") == []


def test_no_minute_is_over_yet(sql, add):
    add("lr.irregular_vehicle", vehicle_id=1)
    sql("CALL lr.correct_minute(0)")
    assert sql("SELECT segment_id FROM lr.segment_tally") == []
