"""lr.tally_segments(second)"""

from __future__ import annotations

from tests.procs.conftest import segment


def tally(sql):
    sql("CALL lr.tally_segments(100)")
    return sql("SELECT segment_id, cars, speed_sum FROM lr.segment_tally ORDER BY 1")


def test_cars_and_speeds_are_added_up_by_segment(sql, add_ring):
    add_ring(100, vehicle_id=1, tally=60)
    add_ring(100, vehicle_id=2, tally=81)
    add_ring(100, vehicle_id=3, segment_id=segment(99), tally=0)
    assert tally(sql) == [(segment(0), 2, 141), (segment(99), 1, 0)]


def test_a_second_report_counts_no_car(sql, add_ring):
    add_ring(100, counted=False, tally=-7)
    assert tally(sql) == [(segment(0), 0, -7)]


def test_every_lane_counts(sql, add_ring):
    for lane in range(5):
        add_ring(100, vehicle_id=lane, lane=lane)
    assert tally(sql) == [(segment(0), 5, 300)]


def test_a_trip_that_ended_does_not_count(sql, add_ring):
    add_ring(100, ended=True)
    assert tally(sql) == []


def test_only_this_second_counts(sql, add_ring):
    add_ring(99)
    add_ring(101)
    assert tally(sql) == []
