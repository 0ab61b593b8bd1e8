"""lr.poll(from_second, until_second): its steps together"""

from __future__ import annotations

import psycopg2
import pytest

from polling_baseline.spec import BALANCE, EXPENDITURE, FREE_CARS, MINUTE_S, NO_LAV, STOP_REPORTS, TRAVEL_TIME
from tests.procs.conftest import STEPS, segment


@pytest.fixture
def poll(sql, add):
    """`poll(0, 3, {...}, {...})` is one cycle with these reports."""

    def poll(from_second, until_second, *reports):
        sql("CALL lr.clear_cycle()")
        for report in reports:
            add("lr.position_report", **{"report_second": from_second, **report})
        sql("CALL lr.poll(%s, %s)", from_second, until_second)

    return poll


def tolls(sql):
    return sql("SELECT vehicle_id, report_second, lav, toll FROM lr.toll_notification ORDER BY 2, 1")


def test_a_cycle_without_input(sql, poll):
    poll(0, 0)
    assert tolls(sql) == []
    assert sql("SELECT from_second, until_second FROM lr.cycle") == [(0, 0)]


@pytest.mark.parametrize(("from_second", "closes"), [(59, False), (60, True), (61, False), (119, False), (120, True)])
def test_a_minute_is_closed_before_its_first_second(sql, add, poll, from_second, closes):
    add("lr.segment_tally", segment_id=0, cars=1, speed_sum=60)
    poll(from_second, from_second)
    assert sql("SELECT minute FROM lr.segment_minute") == [(from_second // MINUTE_S,)] * closes


@pytest.mark.parametrize("from_second", [0, 1])
def test_every_cycle_has_all_steps(sql, poll, from_second):
    poll(from_second, from_second + 2)
    assert sql("SELECT step, ms >= 0 FROM lr.cycle_step ORDER BY started_at") == [(step, True) for step in STEPS]


def test_reports_of_the_new_minute_pay_for_the_old_one(sql, poll):
    poll(59, 59, *({"vehicle_id": vehicle_id} for vehicle_id in range(FREE_CARS + 1)))
    assert {row[1:] for row in tolls(sql)} == {(59, NO_LAV, 0)}
    poll(60, 60, {"vehicle_id": 1000})
    assert tolls(sql) == [(1000, 60, 30, 2)]


def test_a_toll_is_assessed_in_the_second_that_asks(sql, add, poll):
    add("lr.segment_toll", lav=30, toll=8)
    poll(10, 10, {})
    sql("CALL lr.clear_cycle()")
    add("lr.position_report", report_second=40, seg=1)
    for second in (39, 40):
        add("lr.request", kind=BALANCE, request_second=second)
    sql("CALL lr.poll(39, 40)")
    assert sql("SELECT request_second, balance FROM lr.account_balance ORDER BY 1") == [(39, 0), (40, 8)]


def test_several_seconds_are_taken_in_order(sql, poll):
    poll(0, 0, {})
    poll(29, 31, {"report_second": 30, "seg": 1}, {"report_second": 31, "vehicle_id": 2})
    assert tolls(sql) == [(1, 30, NO_LAV, 0), (2, 31, NO_LAV, 0)]
    assert sql("SELECT trips_begun, trips_ended FROM lr.vehicle ORDER BY vehicle_id") == [(1, 0), (1, 0)]


def test_a_trip_ends_in_a_second_without_reports(sql, poll):
    poll(0, 0, {})
    poll(30, 30)
    assert sql("SELECT trips_begun, trips_ended, last_second FROM lr.vehicle") == [(1, 1, 0)]


def test_two_cars_that_stop_are_an_accident_from_the_next_minute(sql, poll):
    for second in range(0, 30 * STOP_REPORTS, 30):
        poll(second, second, {"vehicle_id": 1}, {"vehicle_id": 2})
    assert sql("SELECT vehicle_id, from_second FROM lr.stopped_car ORDER BY 1") == [(1, 90), (2, 90)]
    poll(119, 119, {"vehicle_id": 3})
    assert sql("SELECT vehicle_id FROM lr.accident_alert") == []
    poll(120, 120, {"vehicle_id": 4})
    assert sql("SELECT report_second, vehicle_id, seg FROM lr.accident_alert") == [(120, 4, 0)]
    assert sql("SELECT minute, segment_id FROM lr.accident") == [(2, segment(0))]


def test_all_kinds_of_request_are_answered(sql, add):
    for kind in (BALANCE, EXPENDITURE, TRAVEL_TIME):
        add("lr.request", kind=kind, query_id=kind)
    sql("CALL lr.poll(0, 0)")
    assert sql("SELECT query_id, balance FROM lr.account_balance") == [(BALANCE, 0)]
    assert sql("SELECT query_id, tolls FROM lr.daily_expenditure") == [(EXPENDITURE, 0)]
    assert sql("SELECT query_id, travel_s, toll FROM lr.travel_time") == [(TRAVEL_TIME, 0, 0)]


def test_the_same_seconds_are_refused_a_second_time(poll):
    poll(0, 0)
    with pytest.raises(psycopg2.errors.UniqueViolation):
        poll(0, 0)


def test_of_several_workers_none_answers_balances_yet(cursor_of_two):
    cursor_of_two.execute(
        "INSERT INTO lr.request SELECT 2, 0, 1, -1, 1, -1, -1, -1, -1, -1; CALL lr.poll(0, 0);"
        "SELECT query_id FROM lr.account_balance"
    )
    assert cursor_of_two.fetchall() == []
