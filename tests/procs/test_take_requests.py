"""lr.take_requests(): the statement trigger on request"""

from __future__ import annotations

import pytest

from polling_baseline.database.install import install
from polling_baseline.spec import BALANCE, EXPENDITURE, TRAVEL_TIME

REQUESTS = f"""
    INSERT INTO lr.request (
        kind, request_second, vehicle_id, xway, query_id, from_seg, to_seg, day_of_week, minute_of_day, day
    )
    SELECT kind, 5, 1, 0, kind, 0, 0, 1, 1, 1
    FROM unnest(ARRAY[{BALANCE}, {EXPENDITURE}, {TRAVEL_TIME}]) AS kind
"""


@pytest.fixture
def cursor(statement_cursor):
    return statement_cursor


@pytest.fixture
def ask(sql):
    def ask():
        sql("CALL lr.begin_cycle(5, 5)")
        sql(REQUESTS)

    return ask


def test_all_kinds_are_answered_once(sql, ask):
    ask()
    assert sql("SELECT request_second, result_second, query_id, balance FROM lr.account_balance") == [
        (5, 5, BALANCE, 0)
    ]
    assert sql("SELECT request_second, query_id, tolls FROM lr.daily_expenditure") == [(5, EXPENDITURE, 0)]
    assert sql("SELECT request_second, query_id, travel_s, toll FROM lr.travel_time") == [(5, TRAVEL_TIME, 0, 0)]


def test_the_ledger_tells_the_steps(sql, ask):
    ask()
    assert sql("SELECT balance_ms > 0, history_ms > 0 FROM lr.cycle") == [(True, True)]


def test_of_several_workers_none_answers_balances_yet(database):
    connection = database.connect()
    install(connection, workers=2, triggers="statement")
    with connection.cursor() as cursor:
        cursor.execute("CALL lr.begin_cycle(5, 5)")
        cursor.execute(REQUESTS)
        cursor.execute("SELECT (SELECT count(*) FROM lr.account_balance), (SELECT count(*) FROM lr.travel_time)")
        assert cursor.fetchall() == [(0, 1)]
    connection.close()
