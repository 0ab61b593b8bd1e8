"""lr.open_cycle(from_second, until_second)"""

from __future__ import annotations

import psycopg2
import pytest

from polling_baseline.spec import MINUTE_S


def test_the_ledger_has_the_cycle_and_its_first_step(sql):
    sql("CALL lr.open_cycle(61, 63)")
    assert sql("SELECT from_second, until_second, started_at <= clock_timestamp() FROM lr.cycle") == [(61, 63, True)]
    assert sql("SELECT from_second, step FROM lr.cycle_step") == [(61, "minute")]


@pytest.mark.parametrize(("from_second", "closes"), [(0, True), (59, False), (60, True), (61, False), (120, True)])
def test_a_minute_is_closed_before_its_first_second(sql, add, from_second, closes):
    add("lr.segment_tally", segment_id=0, cars=1, speed_sum=60)
    sql("CALL lr.open_cycle(%s, %s)", from_second, from_second)
    assert sql("SELECT minute FROM lr.segment_minute") == [(from_second // MINUTE_S,)] * closes


def test_the_same_seconds_are_refused_a_second_time(sql):
    sql("CALL lr.open_cycle(0, 3)")
    with pytest.raises(psycopg2.errors.UniqueViolation):
        sql("CALL lr.open_cycle(0, 3)")
