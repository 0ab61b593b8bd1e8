"""The trigger engine gives the right answers, at each granularity: on every hand-made trace and on random roads."""

from __future__ import annotations

from contextlib import closing

import pytest

from polling_baseline.database.claim import claim_database
from polling_baseline.database.connection import Target
from polling_baseline.database.settings import OFF
from polling_baseline.engines.system_x.trigger import Trigger
from tests import traces
from tests.engines.feeding import LEDGER_STEPS, MakeEngine, Road, faults, fill_history, steps_of

# Granularity, workers, the seconds that a batch may have, and whether long roads are left out.
WAYS = [
    pytest.param("row", 1, 29, None, id="row"),
    pytest.param("copy", 1, 29, False, id="copy"),
    pytest.param("statement", 1, 29, None, id="statement"),
    pytest.param("statement", 2, 4, False, id="statement-two-workers-period-4"),
]


@pytest.fixture
def engine_of(history_database: Target):
    def with_granularity(granularity: str) -> MakeEngine:
        def trigger(road: Road, workers: int) -> Trigger:
            fill_history(history_database, road)
            return Trigger(claim_database(history_database, "test"), workers, OFF, granularity)

        return trigger

    return with_granularity


@pytest.mark.parametrize(("granularity", "workers", "longest", "long"), WAYS)
def test_roads(engine_of, granularity: str, workers: int, longest: int, long: bool | None) -> None:
    assert faults(engine_of(granularity), workers, longest, long) == {}


@pytest.mark.parametrize(
    ("granularity", "steps"),
    [("row", ("begin_ms", "report_ms", "request_ms")), ("statement", ("copy_ms", *LEDGER_STEPS))],
)
def test_every_cycle_has_the_same_steps(engine_of, granularity: str, steps: tuple[str, ...]) -> None:
    trace = traces.load("no_history")
    road = Road(trace.lines, trace.toll_history, trace.segment_history)
    assert steps_of(engine_of(granularity), road, 1) == {(*steps, "commit_ms")}


def test_a_row_trigger_has_one_worker(history_database: Target) -> None:
    with (
        closing(claim_database(history_database, "test")) as claim,
        pytest.raises(ValueError, match="a row trigger has one"),
    ):
        Trigger(claim, 2, OFF, "row")
