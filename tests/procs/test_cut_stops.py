"""lr.cut_stops(minute), with a second worker's schema lr_1"""

from __future__ import annotations

import pytest

from polling_baseline.spec import REPORT_PERIOD_S

MINUTE, FROM = 2, 60
STOP = {"from_second": 70, "until_second": 70 + REPORT_PERIOD_S - 1}


@pytest.fixture
def cursor(cursor_of_two):
    return cursor_of_two


@pytest.fixture(autouse=True)
def stop(add):
    """Of two cars at one place; only such a one can be in an accident."""
    for vehicle_id in (1, 3):
        add("lr.stopped_car", vehicle_id=vehicle_id, **STOP)


@pytest.fixture
def end(sql):
    """The second until which the car counts as stopped, after the call."""

    def end():
        sql("CALL lr.cut_stops(%s)", MINUTE)
        [(until_second,)] = sql("SELECT until_second FROM lr.stopped_car WHERE vehicle_id = 1")
        return until_second

    return end


def test_nothing_else_was_reported(end, add, add_ring):
    add("lr.irregular_vehicle", vehicle_id=1)
    add_ring(STOP["from_second"])
    assert end() == STOP["until_second"]


@pytest.mark.parametrize(
    ("reports", "until_second"),
    [
        ([71], 70),
        ([99], 98),
        ([100], 99),
        ([69], 99),
        ([85, 80, 90], 79),
    ],
)
@pytest.mark.parametrize("schema", ["lr", "lr_1"])
def test_the_next_report_ends_a_stop(end, add, add_ring, schema, reports, until_second):
    add("lr.irregular_vehicle", vehicle_id=1)
    add("lr_1.vehicle", vehicle_id=1, trips_begun=1, trips_ended=0, balance=0)
    for second in reports:
        add_ring(second, schema)
    assert end() == until_second


def test_the_end_of_a_trip_is_no_report(end, add, add_ring):
    add("lr.irregular_vehicle", vehicle_id=1)
    add_ring(80, ended=True)
    assert end() == STOP["until_second"]


def test_another_car_ends_nothing(end, add, add_ring):
    for vehicle_id in (1, 2):
        add("lr.irregular_vehicle", vehicle_id=vehicle_id)
    add_ring(80, vehicle_id=2)
    assert end() == STOP["until_second"]


def test_a_stop_of_the_minute_before_is_cut_in_this_one(sql, end, add, add_ring):
    sql("UPDATE lr.stopped_car SET from_second = %s, until_second = %s", FROM - 10, FROM + 19)
    add("lr.irregular_vehicle", vehicle_id=1)
    add_ring(FROM)
    assert end() == FROM - 1


def test_each_stop_is_cut_by_what_follows_it(sql, add, add_ring):
    add("lr.stopped_car", from_second=100, until_second=129)
    add("lr.irregular_vehicle", vehicle_id=1)
    add_ring(85)
    add_ring(110)
    sql("CALL lr.cut_stops(%s)", MINUTE)
    assert sql("SELECT from_second, until_second FROM lr.stopped_car WHERE vehicle_id = 1 ORDER BY 1") == [
        (70, 84),
        (100, 109),
    ]


def test_a_car_that_stands_alone_is_not_looked_at(sql, add, add_ring):
    add("lr.irregular_vehicle", vehicle_id=1)
    add_ring(80)
    sql("DELETE FROM lr.stopped_car WHERE vehicle_id = 3")
    sql("CALL lr.cut_stops(%s)", MINUTE)
    assert sql("SELECT until_second FROM lr.stopped_car") == [(STOP["until_second"],)]
