"""lr.close_minute(minute): its steps, in their order, of the ring"""

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


def test_a_car_that_reported_again_in_between_is_gone(sql, add, add_ring):
    for vehicle_id, from_second in ((0, 70), (1, 80)):
        add("lr.stopped_car", vehicle_id=vehicle_id, from_second=from_second, until_second=from_second + 29)
    add("lr.irregular_vehicle", vehicle_id=0)
    add("lr.segment_tally", segment_id=segment(0), cars=1, speed_sum=60)
    add_ring(80, vehicle_id=0)
    sql("CALL lr.close_minute(2)")
    assert sql("SELECT minute FROM lr.accident") == []


def test_a_car_that_was_gone_when_the_other_came_a_minute_later(sql, add, add_ring):
    add("lr.stopped_car", vehicle_id=0, from_second=99, until_second=128)
    add("lr.irregular_vehicle", vehicle_id=0)
    add("lr.segment_tally", segment_id=segment(0), cars=1, speed_sum=60)
    add_ring(114, vehicle_id=0)
    sql("CALL lr.close_minute(2)")
    add("lr.stopped_car", vehicle_id=1, from_second=122, until_second=151)
    sql("CALL lr.close_minute(3)")
    assert sql("SELECT minute FROM lr.accident") == []


def test_a_run_begins(sql):
    assert tolls(sql, 0) == []
