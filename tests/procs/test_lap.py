"""lr.lap(step_at, step_ms)"""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("so_far_ms", [0, 250])
def test_the_time_since_is_added(sql, so_far_ms):
    [(step_at, step_ms)] = sql("CALL lr.lap(clock_timestamp() - interval '2 s', %s)", so_far_ms)
    assert 2000 <= step_ms - so_far_ms < 3000
    [(age_s,)] = sql("SELECT extract(EPOCH FROM clock_timestamp() - %s)", step_at)
    assert 0 <= age_s < 1
