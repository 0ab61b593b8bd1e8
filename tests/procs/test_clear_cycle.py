"""lr.clear_cycle()"""

from __future__ import annotations

from polling_baseline.engines.system_x.exchange import TABLES
from polling_baseline.spec import BALANCE

EMPTY = ("position_report", "request", *(table for table, *_ in TABLES.values()))


def rows(sql, table):
    [(rows,)] = sql(f"SELECT count(*) FROM lr.{table}")
    return rows


def test_input_and_answers_go_away_and_state_stays(sql, add, add_ring):
    add("lr.position_report", report_second=0)
    add("lr.request", kind=BALANCE)
    add("lr.toll_notification", vehicle_id=1, report_second=0, lav=0, toll=0)
    add("lr.accident_alert", vehicle_id=1, report_second=0, seg=0)
    add("lr.account_balance", request_second=0, result_second=0, query_id=1, balance=0)
    add("lr.daily_expenditure", request_second=0, query_id=1, tolls=0)
    add("lr.travel_time", request_second=0, query_id=1, travel_s=0, toll=0)
    add("lr.vehicle")
    add("lr.segment_toll")
    add("lr.stopped_car", from_second=0, until_second=29)
    add("lr.segment_tally", segment_id=0, cars=1, speed_sum=60)
    add_ring(0)
    sql("CALL lr.clear_cycle()")
    assert {table: rows(sql, table) for table in EMPTY} == dict.fromkeys(EMPTY, 0)
    kept = ("vehicle", "segment_toll", "stopped_car", "segment_tally", "ring_000")
    assert {table: rows(sql, table) for table in kept} == dict.fromkeys(kept, 1)


def test_nothing_to_clear(sql):
    sql("CALL lr.clear_cycle()")
