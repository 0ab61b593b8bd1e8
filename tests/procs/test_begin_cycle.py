"""lr.begin_cycle(from_second, until_second), of row triggers and of statement triggers"""

from __future__ import annotations

import psycopg2
import pytest

from polling_baseline.spec import FREE_CARS


@pytest.fixture(params=["row", "statement"])
def granularity(request):
    return request.param


@pytest.fixture
def cursor(granularity, request):
    return request.getfixturevalue(f"{granularity}_cursor")


@pytest.fixture
def begin(sql):
    return lambda from_second, until_second: sql("CALL lr.begin_cycle(%s, %s)", from_second, until_second)


def test_the_ledger_has_a_row(sql, begin):
    begin(61, 63)
    assert sql("SELECT from_second, until_second FROM lr.cycle") == [(61, 63)]


def test_the_same_seconds_are_refused_a_second_time(begin):
    begin(0, 0)
    with pytest.raises(psycopg2.errors.UniqueViolation):
        begin(0, 0)


def test_answers_and_requests_are_cleared(sql, add, begin):
    begin(1, 1)
    for kind in (2, 3, 4):
        add("lr.request", kind=kind)
    add("lr.position_report", report_second=1)
    add("lr.accident_alert", report_second=1, vehicle_id=1, seg=0)
    begin(2, 2)
    tables = ("toll_notification", "accident_alert", "account_balance", "daily_expenditure", "travel_time", "request")
    assert [sql(f"SELECT count(*) FROM lr.{table}") for table in tables] == [[(0,)]] * len(tables)


@pytest.mark.parametrize(("from_second", "closes"), [(59, False), (60, True), (61, False), (120, True)])
def test_a_minute_is_closed_before_its_first_second(sql, begin, from_second, closes):
    sql("INSERT INTO lr.segment_tally (segment_id, cars, speed_sum) VALUES (0, 1, 60)")
    begin(from_second, from_second)
    assert sql("SELECT minute FROM lr.segment_minute") == [(from_second // 60,)] * closes


def test_reports_of_the_new_minute_pay_for_the_old_one(sql, add, begin):
    begin(59, 59)
    sql(
        "INSERT INTO lr.position_report (report_second, vehicle_id, speed_mph, xway, lane, dir, seg, position_ft)"
        " SELECT 59, vehicle_id, 30, 0, 1, 0, 0, 0 FROM generate_series(0, %s) AS vehicle_id",
        FREE_CARS,
    )
    begin(60, 60)
    add("lr.position_report", report_second=60, vehicle_id=1000)
    found = sql("SELECT vehicle_id, report_second, lav, toll FROM lr.toll_notification")
    assert found == [(1000, 60, 30, 2)]
