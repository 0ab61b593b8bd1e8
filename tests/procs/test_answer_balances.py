"""lr.answer_balances(from_second, until_second), with a second worker's schema lr_1"""

from __future__ import annotations

import pytest

from polling_baseline.spec import BALANCE, EXPENDITURE, TRAVEL_TIME


@pytest.fixture
def cursor(cursor_of_two):
    return cursor_of_two


@pytest.fixture
def ask(add):
    def ask(**request):
        add("lr.request", **{"kind": BALANCE, "request_second": 100, **request})

    return ask


def answers(sql, from_second=100, until_second=100):
    sql("CALL lr.answer_balances(%s, %s)", from_second, until_second)
    return sql("SELECT request_second, result_second, query_id, balance FROM lr.account_balance ORDER BY 1, 3, 4")


def test_an_unknown_vehicle_has_0(sql, ask):
    ask()
    assert answers(sql) == [(100, 100, 1, 0)]


@pytest.mark.parametrize("kind", [EXPENDITURE, TRAVEL_TIME])
def test_other_requests_are_left_alone(sql, ask, kind):
    ask(kind=kind)
    assert answers(sql) == []


def test_only_the_request_for_a_balance_is_answered(sql, ask):
    for kind in (TRAVEL_TIME, BALANCE, EXPENDITURE):
        ask(kind=kind, query_id=kind)
    assert answers(sql) == [(100, 100, BALANCE, 0)]


def test_trips_that_ended_and_the_one_under_way(sql, ask, add, add_ring):
    ask()
    add("lr.vehicle", trips_begun=2, trips_ended=1, balance=8)
    add_ring(100, toll=32, paid=2)
    assert answers(sql) == [(100, 100, 1, 10)]


def test_all_workers_have_assessed(sql, ask, add, add_ring):
    ask()
    add("lr.vehicle", trips_ended=1, balance=8)
    add("lr_1.vehicle", vehicle_id=1, trips_begun=1, trips_ended=0, balance=0)
    add_ring(85, "lr_1", paid=2)
    assert answers(sql) == [(100, 100, 1, 10)]


def test_a_repeated_query_id_is_answered_each_time(sql, ask, add):
    for vehicle_id in (1, 1, 2):
        ask(vehicle_id=vehicle_id, query_id=2**63 - 1)
    add("lr.vehicle", vehicle_id=2, balance=8)
    assert answers(sql) == [(100, 100, 2**63 - 1, balance) for balance in (0, 0, 8)]


def test_each_request_sees_its_own_second(sql, ask, add, add_ring):
    for second in (100, 101, 102):
        ask(request_second=second, query_id=second)
    add("lr.vehicle")
    add_ring(71, paid=2)
    add_ring(101, paid=10)
    assert answers(sql, 100, 102) == [(100, 100, 100, 2), (101, 101, 101, 10), (102, 102, 102, 10)]


def test_vehicles_are_kept_apart(sql, ask, add):
    for vehicle_id in (1, 2):
        ask(vehicle_id=vehicle_id, query_id=vehicle_id)
        add("lr.vehicle", vehicle_id=vehicle_id, balance=8 * vehicle_id)
    assert answers(sql) == [(100, 100, 1, 8), (100, 100, 2, 16)]


def test_nobody_asked(sql):
    assert answers(sql) == []
