"""lr.take_request(): the row trigger on request"""

from __future__ import annotations

import pytest

from polling_baseline.spec import BALANCE, EXPENDITURE, NO_TRAVEL_TIME, TRAVEL_TIME


@pytest.fixture
def cursor(row_cursor):
    return row_cursor


@pytest.mark.parametrize(("vehicle_id", "balance"), [(1, 8), (2, 0)])
def test_a_balance(sql, add, vehicle_id, balance):
    add("lr.vehicle", trips_begun=0, balance=8)
    add("lr.request", kind=BALANCE, request_second=100, vehicle_id=vehicle_id, query_id=5)
    found = sql("SELECT request_second, result_second, query_id, balance FROM lr.account_balance")
    assert found == [(100, 100, 5, balance)]


@pytest.mark.parametrize(
    ("vehicle_id", "day", "xway", "tolls"), [(1, 2, 3, 8), (2, 2, 3, 0), (1, 1, 3, 0), (1, 2, 0, 0)]
)
def test_an_expenditure(sql, add, vehicle_id, day, xway, tolls):
    add("lr_history.toll_history", vehicle_id=1, day=2, xway=3, tolls=8)
    add("lr.request", kind=EXPENDITURE, request_second=100, vehicle_id=vehicle_id, day=day, xway=xway, query_id=5)
    assert sql("SELECT request_second, query_id, tolls FROM lr.daily_expenditure") == [(100, 5, tolls)]


@pytest.mark.parametrize(("minute", "answer"), [(7, (60, 0)), (8, (NO_TRAVEL_TIME, NO_TRAVEL_TIME))])
def test_a_travel_time(sql, add, minute, answer):
    add("lr_history.segment_average", xway=3, day_of_week=2, minute=7, seg=5, lav_sum=60)
    journey = {"xway": 3, "from_seg": 5, "to_seg": 6, "day_of_week": 2, "minute_of_day": minute}
    add("lr.request", kind=TRAVEL_TIME, request_second=100, query_id=5, **journey)
    assert sql("SELECT request_second, query_id, travel_s, toll FROM lr.travel_time") == [(100, 5, *answer)]


@pytest.mark.parametrize("kind", [BALANCE, EXPENDITURE, TRAVEL_TIME])
def test_one_answer_of_its_kind(sql, add, kind):
    add("lr.request", kind=kind)
    tables = ("account_balance", "daily_expenditure", "travel_time")
    counts = [len(sql(f"SELECT 1 FROM lr.{table}")) for table in tables]
    assert counts == [kind == BALANCE, kind == EXPENDITURE, kind == TRAVEL_TIME]
