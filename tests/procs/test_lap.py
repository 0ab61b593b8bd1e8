"""lr.lap(step_at, from_second, step)"""

from __future__ import annotations

import psycopg2
import pytest

LAP = "CALL lr.lap(clock_timestamp() - interval '2 s', 60, 'advance')"


def test_the_time_since_is_entered(sql):
    [(step_at,)] = sql(LAP)
    [(from_second, step, ms, lasted_s)] = sql(
        "SELECT from_second, step, ms, extract(EPOCH FROM %s - started_at)::float FROM lr.cycle_step", step_at
    )
    assert (from_second, step) == (60, "advance")
    assert 2000 <= ms < 3000
    assert lasted_s == pytest.approx(ms / 1000, abs=1e-3)


def test_the_next_step_starts_now(sql):
    [(step_at,)] = sql(LAP)
    [(age_s,)] = sql("SELECT extract(EPOCH FROM clock_timestamp() - %s)", step_at)
    assert 0 <= age_s < 1


def test_a_cycle_has_a_step_once(sql):
    sql(LAP)
    with pytest.raises(psycopg2.errors.UniqueViolation):
        sql(LAP)
