"""The schedule: what is taken when, with an engine whose every cycle takes as long as the test says."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import pairwise

import pytest

from driver.run.clock import Clock
from driver.run.poller import Cycle, Poller, due, run_polls, seconds_to_take
from polling_baseline.batch import Batch


class Watch:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def cycles(
    seconds: range, period_s: float, service_s: float, warm_up: range = range(0), catch_up: bool = True
) -> list[Cycle]:
    """A run on the virtual clock with a fixed service time for each second of input."""
    watch, found = Watch(), []
    clock = Clock("virtual", seconds.start, watch)

    def handle(batch: Batch) -> tuple[float, Mapping[str, float]]:
        watch.seconds += service_s * len(batch.seconds)
        return clock.now(), {}

    poller = Poller(seconds, period_s, clock, lambda taken: Batch(taken, ()), handle, found.append, warm_up, catch_up)
    run_polls(poller, clock, period_s)
    return found


@pytest.mark.parametrize(
    ("next_second", "arrived", "taken"),
    [
        pytest.param(0, 0, range(0, 1), id="one"),
        pytest.param(3, 7, range(3, 8), id="all-that-arrived"),
        pytest.param(58, 70, range(58, 60), id="not-across-a-minute"),
        pytest.param(0, 59, range(0, 29), id="fewer-than-30"),
    ],
)
def test_seconds_to_take(next_second: int, arrived: int, taken: range) -> None:
    assert seconds_to_take(next_second, arrived) == taken


def test_without_catching_up_each_second_has_its_cycle() -> None:
    found = cycles(range(0, 120), 1, 1.5, catch_up=False)
    assert [cycle.seconds for cycle in found] == [range(second, second + 1) for second in range(120)]
    # Second t waits for t cycles of 1.5 s before it.
    assert [cycle.lag for cycle in found] == pytest.approx([0.5 * second for second in range(120)])
    assert found[-1].backlog_s == 0 and found[60].backlog_s == 31
    assert max(cycle.lag for cycle in cycles(range(0, 120), 4, 0.5, catch_up=False)) < 4


@pytest.mark.parametrize(("second", "period_s", "moment"), [(7, 1, 7), (7, 4, 8), (8, 4, 8), (0, 4, 0), (3, 2.5, 5)])
def test_due(second: int, period_s: float, moment: float) -> None:
    assert due(second, period_s) == moment


def test_nothing_waits_for_a_warm_up() -> None:
    found = cycles(range(600, 660), 1, 2.0, warm_up=range(600, 630))
    assert [cycle.seconds for cycle in found[:30]] == [range(second, second + 1) for second in range(600, 630)]
    assert all(cycle.lag == pytest.approx(0) for cycle in found[:31])
    assert all(cycle.committed == pytest.approx(cycle.started + 2) for cycle in found[:31])
    assert found[31].lag > 0


def test_a_fast_engine_gets_each_second_when_it_arrives() -> None:
    found = cycles(range(60, 180), 1, 0.2)
    assert [cycle.seconds for cycle in found] == [range(second, second + 1) for second in range(60, 180)]
    assert all(cycle.due == cycle.seconds[0] for cycle in found)
    assert all(cycle.started == pytest.approx(cycle.due) for cycle in found)
    assert all(cycle.committed == pytest.approx(cycle.started + 0.2) for cycle in found)
    assert {cycle.backlog_s for cycle in found} == {0}


def test_a_longer_period_takes_several_seconds_at_once() -> None:
    found = cycles(range(0, 60), 4, 0.1)
    assert [cycle.seconds for cycle in found][:3] == [range(0, 1), range(1, 5), range(5, 9)]
    assert found[1].started == 4
    # The last poll comes after the last second.
    assert found[-1].seconds == range(57, 60)
    assert found[-1].started == pytest.approx(60)


def test_a_slow_engine_falls_behind_and_never_waits() -> None:
    found = cycles(range(0, 120), 1, 1.5)
    assert [second for cycle in found for second in cycle.seconds] == list(range(120))
    assert all(len(cycle.seconds) < 30 for cycle in found)
    assert not any(cycle.seconds[0] // 60 != cycle.seconds[-1] // 60 for cycle in found)
    assert all(after.started == pytest.approx(before.ended) for before, after in pairwise(found))
    # 120 s of input at 1.5 s each: the engine was never idle after the first second.
    assert found[-1].ended == pytest.approx(180, abs=1)
    assert found[-1].lag > 45
    assert max(cycle.backlog_s for cycle in found) > 30


def test_a_failure_ends_the_run() -> None:
    clock = Clock("virtual", 0, Watch())

    def handle(batch: Batch) -> tuple[float, Mapping[str, float]]:
        raise RuntimeError("broke")

    poller = Poller(range(0, 60), 1, clock, lambda taken: Batch(taken, ()), handle, lambda cycle: None)
    with pytest.raises(RuntimeError, match="broke"):
        run_polls(poller, clock, 1)


def test_the_real_clock_polls_by_the_scheduler() -> None:
    clock, found = Clock("real", -0.2), []
    poller = Poller(
        range(0, 2), 0.5, clock, lambda taken: Batch(taken, ()), lambda batch: (clock.now(), {}), found.append
    )
    run_polls(poller, clock, 0.5)
    assert [cycle.seconds for cycle in found] == [range(0, 1), range(1, 2)]
    assert all(0 <= cycle.lag < 0.4 for cycle in found)


def test_a_slow_engine_on_the_real_clock_makes_no_noise(caplog: pytest.LogCaptureFixture) -> None:
    clock, found = Clock("real", -0.1), []

    def handle(batch: Batch) -> tuple[float, Mapping[str, float]]:
        time.sleep(1.2)
        return clock.now(), {}

    poller = Poller(range(0, 2), 0.25, clock, lambda taken: Batch(taken, ()), handle, found.append)
    run_polls(poller, clock, 0.25)
    # Ticks came while it worked.
    assert [cycle.seconds for cycle in found] == [range(0, 1), range(1, 2)]
    assert not caplog.records
