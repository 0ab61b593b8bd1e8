"""The two clocks: one waits, the other skips waiting."""

from __future__ import annotations

import pytest

from driver.run.clock import Clock


class Watch:
    """Time that passes only when told to."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


def clock(kind: str, start: float = 0.0, slower: float = 1.0) -> tuple[Clock, Watch]:
    watch = Watch()
    return Clock(kind, start, watch, watch.sleep, slower), watch


@pytest.mark.parametrize(("kind", "slept"), [("real", 5.0), ("virtual", 0.0)])
def test_waiting(kind: str, slept: float) -> None:
    clock_, watch = clock(kind, start=60)
    clock_.wait_until(65)
    assert clock_.now() == 65
    assert watch.seconds == 100 + slept


@pytest.mark.parametrize("kind", ["real", "virtual"])
def test_work_takes_time_and_the_past_is_not_waited_for(kind: str) -> None:
    clock_, watch = clock(kind)
    watch.seconds += 3
    clock_.wait_until(2)
    assert clock_.now() == 3


@pytest.mark.parametrize(("kind", "now"), [("real", 7.0), ("virtual", 0.0)])
def test_only_the_virtual_clock_pauses(kind: str, now: float) -> None:
    clock_, watch = clock(kind)
    with clock_.paused():
        watch.seconds += 7
    assert clock_.now() == now


@pytest.mark.parametrize(("slower", "now"), [(1.0, 5.0), (10.0, 32.0)])
def test_a_slower_engine(slower: float, now: float) -> None:
    clock_, watch = clock("virtual", slower=slower)
    with clock_.engine_at_work():
        watch.seconds += 3
    watch.seconds += 2
    assert clock_.now() == now


def test_a_pause_is_one_however_slow_the_engine() -> None:
    clock_, watch = clock("virtual", slower=10)
    with clock_.paused(), clock_.engine_at_work():
        watch.seconds += 3
    assert clock_.now() == 0


@pytest.mark.parametrize("slower", [1.0, 10.0])
def test_moments_of_the_engines_work(slower: float) -> None:
    """What the driver does afterwards, and further work, change nothing about them."""
    clock_, watch = clock("virtual", start=60, slower=slower)
    began = watch.seconds
    with clock_.engine_at_work():
        watch.seconds += 3
    at = clock_.reader()
    watch.seconds += 2
    with clock_.engine_at_work():
        watch.seconds += 1
    assert [at(began + 1), at(began + 3)] == [60 + slower, 60 + 3 * slower]
