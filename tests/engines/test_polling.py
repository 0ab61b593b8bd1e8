"""The polling engine gives the right answers: on every hand-made trace, on random roads, however it is driven."""

from __future__ import annotations

import pytest

from polling_baseline.database.connection import Target
from tests import traces
from tests.engines.feeding import LEDGER_STEPS, MakeEngine, Road, faults, polling_on, steps_of

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


def test_every_cycle_has_the_same_steps(make_engine: MakeEngine) -> None:
    """The columns of `cycles.csv` come from here: with and without requests, at a minute's start and later."""
    trace = traces.load("no_history")
    road = Road(trace.lines, trace.toll_history, trace.segment_history)
    for workers in (1, 2):
        assert steps_of(make_engine, road, workers) == {("copy_ms", *LEDGER_STEPS, "commit_ms")}
