"""The polling engine gives the right answers: on every hand-made trace, on random roads, however it is driven."""

from __future__ import annotations

import pytest

from polling_baseline.database.connection import Target
from tests.engines.feeding import MakeEngine, faults, polling_on

# Workers, and the seconds that a batch may have: one, a longer period's, as many as the rules allow.
WAYS = [
    pytest.param(1, 1, id="one-by-one"),
    pytest.param(2, 1, id="two-workers"),
    pytest.param(1, 29, id="catching-up"),
    pytest.param(2, 4, id="two-workers-period-4"),
    pytest.param(3, 2, id="three-workers-period-2"),
]


@pytest.fixture
def make_engine(history_database: Target) -> MakeEngine:
    return polling_on(history_database)


@pytest.mark.parametrize(("workers", "longest"), WAYS)
def test_short_roads(make_engine: MakeEngine, workers: int, longest: int) -> None:
    assert faults(make_engine, workers, longest, long=False) == {}


def test_long_roads(make_engine: MakeEngine) -> None:
    assert faults(make_engine, 1, 29, long=True) == {}
