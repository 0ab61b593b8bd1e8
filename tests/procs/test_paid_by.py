"""lr.paid_by(vehicles, asked, from_second, until_second, schema)"""

from __future__ import annotations

import pytest

from polling_baseline.spec import REPORT_PERIOD_S


def paid(sql, second, from_second, until_second, vehicle_id=1, asked=None):
    """What counts at a second of a cycle, for a vehicle that asked then or before."""
    [(amount,)] = sql(
        "SELECT coalesce(sum(amount), 0) FROM lr.paid_by(ARRAY[%s], ARRAY[%s], %s, %s, 'lr')"
        " WHERE %s BETWEEN first_second AND last_second",
        vehicle_id,
        second if asked is None else asked,
        from_second,
        until_second,
        second,
    )
    return amount


def test_an_unknown_vehicle(sql, add):
    add("lr.vehicle", vehicle_id=2, balance=8)
    assert sql("SELECT amount FROM lr.paid_by(ARRAY[1], ARRAY[0], 0, 0, 'lr')") == []


@pytest.mark.parametrize("until_second", [100, 103])
def test_trips_that_have_ended(sql, add, until_second):
    add("lr.vehicle", trips_begun=2, trips_ended=2, last_second=20, balance=8)
    assert paid(sql, 100, 100, until_second) == 8


@pytest.mark.parametrize(
    ("reported", "amount"),
    [(100, 10), (99, 10), (100 - REPORT_PERIOD_S + 1, 10), (100 - REPORT_PERIOD_S, 8)],
)
def test_a_trip_under_way_counts_for_one_period(sql, add, add_ring, reported, amount):
    add("lr.vehicle", trips_begun=2, trips_ended=1, balance=8)
    add_ring(reported, paid=2)
    assert paid(sql, 100, 100, 100) == amount


def test_two_trips_under_way(sql, add, add_ring):
    add("lr.vehicle", trips_begun=2)
    add_ring(85, paid=2)
    add_ring(100, paid=32)
    assert paid(sql, 100, 100, 100) == 34


def test_a_trip_that_ends_while_another_goes_on(sql, add, add_ring):
    add("lr.vehicle", trips_begun=2, trips_ended=1, last_second=70, balance=2)
    add_ring(85, paid=32)
    add_ring(100, ended=True, paid=2)
    assert paid(sql, 100, 100, 100) == 34


@pytest.mark.parametrize(("second", "amount"), [(100, 2), (101, 2), (102, 10), (103, 10)])
@pytest.mark.parametrize("asked", range(100, 104))
def test_each_second_of_a_cycle_has_its_own_amount(sql, add, add_ring, asked, second, amount):
    add("lr.vehicle")
    add_ring(102 - REPORT_PERIOD_S, paid=2)
    add_ring(102, paid=10)
    assert asked > second or paid(sql, second, 100, 103, asked=asked) == amount


@pytest.mark.parametrize("second", range(100, 104))
def test_two_trips_of_which_a_cycle_sees_one(sql, add, add_ring, second):
    add("lr.vehicle", trips_begun=2)
    add_ring(85, paid=2)
    add_ring(100, paid=32)
    assert paid(sql, second, 100, 103, asked=100) == 34


@pytest.mark.parametrize(("second", "amount"), [(101, 8), (102, 8), (103, 40)])
def test_a_trip_begun_in_a_cycle_after_another_was_settled(sql, add, add_ring, second, amount):
    add("lr.vehicle", trips_begun=2, trips_ended=1, last_second=72, balance=8)
    add_ring(72, paid=8)
    add_ring(102, ended=True, paid=8)
    add_ring(103, paid=32)
    assert paid(sql, second, 101, 103, asked=101) == amount


@pytest.mark.parametrize("second", range(100, 104))
@pytest.mark.parametrize("settled", range(100, 104))
@pytest.mark.parametrize("another", [True, False])
def test_a_trip_settled_in_a_cycle_counts_once(sql, add, add_ring, settled, second, another):
    add("lr.vehicle", trips_begun=2 + another, trips_ended=2, last_second=settled - REPORT_PERIOD_S, balance=8 + 2)
    add_ring(settled - REPORT_PERIOD_S, paid=2)
    add_ring(settled, ended=True, paid=2)
    if another:
        add_ring(90, paid=0)
    assert paid(sql, second, 100, 103) == 10


def test_vehicles_are_kept_apart(sql, add, add_ring):
    for vehicle_id in (1, 2):
        add("lr.vehicle", vehicle_id=vehicle_id)
        add_ring(100, vehicle_id=vehicle_id, paid=vehicle_id)
    assert sql(
        "SELECT vehicle_id, sum(amount) FROM lr.paid_by(ARRAY[1, 2, 3], ARRAY[100, 100, 100], 100, 100, 'lr')"
        " GROUP BY 1 ORDER BY 1"
    ) == [
        (1, 1),
        (2, 2),
    ]
