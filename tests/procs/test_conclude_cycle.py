"""lr.conclude_cycle(from_second, until_second, step_at): what follows from rows of the ring, and requests"""

from __future__ import annotations

import pytest

from polling_baseline.spec import BALANCE, EXPENDITURE, STOP_REPORTS, TRAVEL_TIME
from tests.procs.conftest import REQUEST, RING, STEPS, segment

CALL = "CALL lr.conclude_cycle(100, 101, clock_timestamp())"
KINDS = (BALANCE, EXPENDITURE, TRAVEL_TIME)
ANSWERED = """
    SELECT query_id FROM lr.account_balance
    UNION ALL SELECT query_id FROM lr.daily_expenditure
    UNION ALL SELECT query_id FROM lr.travel_time
    ORDER BY 1
"""


@pytest.fixture
def insert_of_two(cursor_of_two):
    def insert(table, row):
        places = ", ".join(["%s"] * len(row))
        cursor_of_two.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", tuple(row.values()))

    return insert


def test_each_second_counts(sql, add_ring):
    for second in (99, 100, 101, 102):
        add_ring(second, vehicle_id=second, started=True, crossed=True, toll=2)
    sql(CALL)
    tolls = sql("SELECT vehicle_id, report_second, toll FROM lr.toll_notification ORDER BY 1")
    assert tolls == [(100, 100, 2), (101, 101, 2)]
    assert sql("SELECT vehicle_id, trips_begun FROM lr.vehicle ORDER BY 1") == [(100, 1), (101, 1)]
    assert sql("SELECT cars FROM lr.segment_tally") == [(1,), (1,)]


def test_vehicles_are_warned_and_stops_noted(sql, add, add_ring):
    add("lr.segment_toll", accident_seg=3)
    add_ring(100, crossed=True)
    add_ring(101, vehicle_id=2, stop_reports=STOP_REPORTS)
    sql(CALL)
    assert sql("SELECT report_second, vehicle_id, seg FROM lr.accident_alert") == [(100, 1, 3)]
    assert sql("SELECT vehicle_id, from_second FROM lr.stopped_car") == [(2, 101)]


def test_arrivals_of_another_worker_are_adopted_first(cursor_of_two, insert_of_two):
    """A vehicle that was in the same segment of another worker's expressway enters none."""
    insert_of_two("lr_1.ring_070", {**RING, "segment_id": segment(0, xway=1)})
    insert_of_two("lr.ring_100", {**RING, "started": True, "crossed": True})
    cursor_of_two.execute(f"{CALL}; SELECT vehicle_id FROM lr.toll_notification")
    assert cursor_of_two.fetchall() == []


def test_all_kinds_of_request_are_answered_once(sql, add):
    for kind in KINDS:
        add("lr.request", kind=kind, query_id=kind)
    sql(CALL)
    assert sql(ANSWERED) == [(kind,) for kind in KINDS]


def test_of_several_workers_none_answers_balances_yet(cursor_of_two, insert_of_two):
    for kind in KINDS:
        insert_of_two("lr.request", {**REQUEST, "kind": kind, "query_id": kind})
    cursor_of_two.execute(f"{CALL}; {ANSWERED}")
    assert cursor_of_two.fetchall() == [(EXPENDITURE,), (TRAVEL_TIME,)]


def test_the_ledger_tells_the_steps_that_follow(sql):
    sql(CALL)
    steps = sql("SELECT from_second, step FROM lr.cycle_step ORDER BY started_at")
    assert steps == [(100, step) for step in STEPS[1:]]
