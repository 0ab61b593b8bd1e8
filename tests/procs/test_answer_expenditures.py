"""lr.answer_expenditures()"""

from __future__ import annotations

import pytest

from polling_baseline.spec import BALANCE, EXPENDITURE, HISTORY_DAYS, TRAVEL_TIME


@pytest.fixture(autouse=True)
def history(add):
    for vehicle_id, day, xway, tolls in [(1, 1, 0, 8), (1, 1, 1, 16), (1, HISTORY_DAYS, 0, 24), (2, 1, 0, 32)]:
        add("lr_history.toll_history", vehicle_id=vehicle_id, day=day, xway=xway, tolls=tolls)


def answers(sql):
    sql("CALL lr.answer_expenditures()")
    return sql("SELECT request_second, query_id, tolls FROM lr.daily_expenditure ORDER BY 1, 2")


@pytest.mark.parametrize(
    ("vehicle_id", "day", "xway", "tolls"),
    [
        (1, 1, 0, 8),
        (1, 1, 1, 16),
        (1, HISTORY_DAYS, 0, 24),
        (2, 1, 0, 32),
        (2, 2, 0, 0),
        (2, 1, 1, 0),
        (3, 1, 0, 0),
    ],
)
def test_tolls_of_a_day(sql, add, vehicle_id, day, xway, tolls):
    add("lr.request", kind=EXPENDITURE, request_second=100, vehicle_id=vehicle_id, day=day, xway=xway)
    assert answers(sql) == [(100, 1, tolls)]


@pytest.mark.parametrize("kind", [BALANCE, TRAVEL_TIME])
def test_other_requests_are_left_alone(sql, add, kind):
    add("lr.request", kind=kind)
    assert answers(sql) == []


def test_a_repeated_query_id_is_answered_each_time(sql, add):
    for _ in range(2):
        add("lr.request", kind=EXPENDITURE)
    assert answers(sql) == [(0, 1, 8), (0, 1, 8)]
