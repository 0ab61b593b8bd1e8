"""lr.minute_of(second)"""

from __future__ import annotations

import pytest

from polling_baseline import spec
from polling_baseline.spec import MINUTE_S, RUN_SECONDS


@pytest.mark.parametrize(
    ("second", "minute"),
    [(0, 1), (MINUTE_S - 1, 1), (MINUTE_S, 2), (2 * MINUTE_S - 1, 2), (RUN_SECONDS - 1, RUN_SECONDS // MINUTE_S)],
)
def test_minute_of(sql, second, minute):
    assert sql("SELECT lr.minute_of(%s)", second) == [(minute,)]
    assert spec.minute_of(second) == minute
