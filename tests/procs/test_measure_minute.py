"""lr.measure_minute(minute)"""

from __future__ import annotations

from decimal import Decimal

from tests.procs.conftest import segment


def measure(sql, minute=7):
    sql("CALL lr.measure_minute(%s)", minute)
    return sql("SELECT minute, segment_id, cars, average_mph FROM lr.segment_minute ORDER BY 1, 2")


def test_the_seconds_are_added_up_by_segment(sql, add):
    add("lr.segment_tally", segment_id=segment(0), cars=2, speed_sum=120)
    add("lr.segment_tally", segment_id=segment(0), cars=0, speed_sum=-2)
    add("lr.segment_tally", segment_id=segment(99), cars=1, speed_sum=0)
    assert measure(sql) == [(7, segment(0), 2, Decimal("29.5")), (7, segment(99), 1, 0)]


def test_the_average_is_not_rounded(sql, add):
    add("lr.segment_tally", segment_id=segment(0), cars=3, speed_sum=200)
    measure(sql)
    assert sql("SELECT abs(average_mph * 3 - 100) < 1e-35 FROM lr.segment_minute") == [(True,)]


def test_a_correction_takes_cars_away(sql, add):
    add("lr.segment_tally", segment_id=segment(0), cars=2, speed_sum=160)
    add("lr.segment_tally", segment_id=segment(0), cars=-1, speed_sum=-80)
    assert measure(sql) == [(7, segment(0), 1, 40)]


def test_the_next_minute_begins_with_nothing(sql, add):
    add("lr.segment_tally", segment_id=segment(0), cars=1, speed_sum=60)
    measure(sql)
    assert measure(sql, 8) == [(7, segment(0), 1, 30)]


def test_an_empty_minute(sql):
    assert measure(sql) == []
