"""lr.close_minute(minute): its four steps, in their order"""

from __future__ import annotations

from polling_baseline.spec import FREE_CARS
from tests.procs.conftest import segment


def tolls(sql, minute=2):
    sql("CALL lr.close_minute(%s)", minute)
    return sql("SELECT segment_id, lav, toll, accident_seg FROM lr.segment_toll ORDER BY 1")


def test_traffic_makes_the_tolls_of_the_next_minute(sql, add):
    add("lr.segment_tally", segment_id=segment(0), cars=FREE_CARS + 1, speed_sum=2 * 39 * (FREE_CARS + 1))
    assert tolls(sql) == [(segment(0), 39, 2, None)]
    assert sql("SELECT minute, cars FROM lr.segment_minute") == [(2, FREE_CARS + 1)]


def test_an_irregular_vehicle_is_corrected_before_the_minute_is_measured(sql, add, add_ring):
    add("lr.segment_tally", segment_id=segment(0), cars=FREE_CARS + 1, speed_sum=60 * (FREE_CARS + 1))
    add("lr.irregular_vehicle", vehicle_id=1)
    for second in (60, 75):
        add_ring(second)
    assert tolls(sql) == [(segment(0), 30, 0, None)]


def test_an_accident_acts_from_the_next_minute(sql, add):
    for vehicle_id in (1, 2):
        add("lr.stopped_car", vehicle_id=vehicle_id, from_second=119, until_second=148)
    assert tolls(sql, 1) == []
    assert tolls(sql, 2) == [(segment(0), -1, 0, 0)]
    assert tolls(sql, 3) == [(segment(0), -1, 0, 0)]
    assert tolls(sql, 4) == []


def test_a_run_begins(sql):
    assert tolls(sql, 0) == []
