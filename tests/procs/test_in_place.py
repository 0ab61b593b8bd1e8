"""lr.close_minute(minute) and lr.answer_balances(from_second, until_second), of design 2004"""

from __future__ import annotations

import pytest

from polling_baseline.spec import BALANCE


@pytest.fixture
def cursor(cursor_of_2004):
    return cursor_of_2004


@pytest.mark.parametrize(("report_second", "kept"), [(59, False), (60, True), (360, True)])
def test_reports_older_than_five_minutes_are_deleted(sql, report_second, kept):
    sql("INSERT INTO lr.report_log VALUES (%s, 1, 30, 0, 1, 0, 0, 0)", report_second)
    sql("CALL lr.close_minute(6)")
    assert sql("SELECT report_second FROM lr.report_log") == [(report_second,)] * kept


def test_only_reports_of_the_minute_are_counted(sql):
    for vehicle_id, second in enumerate((59, 60, 119, 120)):
        sql("INSERT INTO lr.report_log VALUES (%s, %s, 30, 0, 1, 0, 0, 0)", second, vehicle_id)
    sql("CALL lr.close_minute(2)")
    assert sql("SELECT minute, cars, average_mph FROM lr.segment_minute") == [(2, 2, 30)]


def test_a_balance_is_that_of_its_second_and_of_all_phases(sql, add):
    """The vehicle was charged 5 in second 64, and has paid 20 in one phase and 100 in another."""
    sql("INSERT INTO lr.vehicle VALUES (1, 4, 64, 0, 0, 1, 1, 0, 5, 20), (1, 9, 39, 0, 0, 1, 1, 0, 7, 100)")
    for query_id, second in enumerate((63, 64, 65)):
        add("lr.request", kind=BALANCE, request_second=second, query_id=query_id)
    add("lr.request", kind=BALANCE, request_second=64, query_id=3, vehicle_id=2)
    sql("CALL lr.answer_balances(63, 65)")
    found = sql("SELECT query_id, request_second, result_second, balance FROM lr.account_balance ORDER BY 1")
    assert found == [(0, 63, 63, 115), (1, 64, 64, 120), (2, 65, 65, 120), (3, 64, 64, 0)]
