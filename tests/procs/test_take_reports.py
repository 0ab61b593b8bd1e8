"""lr.take_reports(): the statement trigger on position_report; its steps are the polling engine's"""

from __future__ import annotations

import pytest

from polling_baseline.spec import BALANCE, EXPENDITURE, NO_LAV, TRAVEL_TIME
from tests.procs.conftest import STEPS

COLUMNS = "report_second, vehicle_id, speed_mph, xway, lane, dir, seg, position_ft"


@pytest.fixture
def cursor(statement_cursor):
    return statement_cursor


@pytest.fixture
def cycle(sql):
    """`cycle(0, 1, (0, 7))`: one cycle with a report of vehicle 7 in second 0, inserted by one statement."""

    def cycle(from_second, until_second, *reports, seg=0):
        sql("CALL lr.begin_cycle(%s, %s)", from_second, until_second)
        rows = ", ".join(f"({second}, {vehicle_id}, 30, 0, 1, 0, {seg}, 0)" for second, vehicle_id in reports)
        source = f"VALUES {rows}" if rows else f"SELECT {COLUMNS} FROM lr.position_report WHERE FALSE"
        sql(f"INSERT INTO lr.position_report ({COLUMNS}) {source}")

    return cycle


def tolls(sql):
    return sql("SELECT vehicle_id, report_second, lav, toll FROM lr.toll_notification ORDER BY 2, 1")


def test_each_second_of_the_statement_is_taken_in_order(sql, cycle):
    cycle(0, 0, (0, 1))
    cycle(29, 31, (30, 1), (31, 2), seg=1)
    assert tolls(sql) == [(1, 30, NO_LAV, 0), (2, 31, NO_LAV, 0)]
    assert sql("SELECT trips_begun, trips_ended FROM lr.vehicle ORDER BY vehicle_id") == [(1, 0), (1, 0)]


def test_a_trip_ends_in_a_statement_without_reports(sql, cycle):
    cycle(0, 0, (0, 1))
    cycle(30, 30)
    assert sql("SELECT trips_begun, trips_ended, last_second FROM lr.vehicle") == [(1, 1, 0)]


def test_only_what_the_statement_inserted_counts(sql, cycle):
    sql("ALTER TABLE lr.position_report DISABLE TRIGGER take_reports")
    sql("CALL lr.begin_cycle(5, 5)")
    sql(f"INSERT INTO lr.position_report ({COLUMNS}) VALUES (5, 1, 30, 0, 1, 0, 0, 0)")
    sql("ALTER TABLE lr.position_report ENABLE TRIGGER take_reports")
    sql(f"INSERT INTO lr.position_report ({COLUMNS}) VALUES (5, 2, 30, 0, 1, 0, 0, 0)")
    assert tolls(sql) == [(2, 5, NO_LAV, 0)]


def test_two_cars_that_stop_are_an_accident_from_the_next_minute(sql, cycle):
    for second in (0, 30, 60, 90):
        cycle(second, second, (second, 1), (second, 2))
    cycle(120, 120, (120, 4))
    assert sql("SELECT report_second, vehicle_id, seg FROM lr.accident_alert") == [(120, 4, 0)]


def test_every_cycle_has_all_steps(sql, cycle):
    cycle(0, 0, (0, 1))
    assert sql("SELECT step FROM lr.cycle_step ORDER BY started_at") == [(step,) for step in STEPS]


def test_requests_that_came_before_are_answered(sql, add, add_ring):
    sql("CALL lr.begin_cycle(40, 40)")
    for kind in (BALANCE, EXPENDITURE, TRAVEL_TIME):
        add("lr.request", kind=kind, request_second=40)
    add_ring(10, toll=8)
    add("lr.vehicle")
    add("lr.position_report", report_second=40, seg=1)
    assert sql("SELECT request_second, balance FROM lr.account_balance") == [(40, 8)]
    assert sql("SELECT tolls FROM lr.daily_expenditure") == [(0,)]
    assert sql("SELECT travel_s, toll FROM lr.travel_time") == [(0, 0)]
