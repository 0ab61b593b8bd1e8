"""A slower machine by arithmetic, against queues worked out by hand and against the driver's loop."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from driver.rating.slower_machine import Schedule, Service, fitted, measured_service, predicted_service, replayed
from driver.run.clock import Clock
from driver.run.poller import Cycle, Poller, run_polls
from polling_baseline.batch import Batch
from tests.unit.test_relabel import SECONDS, road

LIMIT_S = 5
ONE_BY_ONE = Schedule(catch_up=False)


def service(times: list[float], fixed_s: float = 0.0, first_second: int = 0) -> Service:
    """Seconds that take so long alone, until the answers can be read and until the cycle ends."""
    return Service(first_second, np.array(times), np.array(times), fixed_s)


@pytest.mark.parametrize(
    ("times", "fixed_s", "factor", "max_response_s", "first_late"),
    [
        pytest.param([0.5] * 10, 0, 1, 0.5, None, id="in-time"),
        # 0 ends at 2; 1 and 2 end at 6; 3 to 6 at 14: second 3 waits 11 s.
        pytest.param([1.0] * 7, 0, 2, 11, 3, id="twice-as-slow"),
        # One slow second: it ends at 3, then 1 to 3 together take 3 x 0.1.
        pytest.param([3.0, 0.1, 0.1, 0.1, 0.1], 0, 1, 3, None, id="catches-up"),
        # 0 ends at 2; 1 and 2 pay the fixed second once: 2 + 3 = 5; 3 to 5 together 4, until 9.
        pytest.param([2.0] * 6, 1, 1, 6, 3, id="fixed-part-paid-once"),
        pytest.param([1.0, 1.0, 1.0, 9.0], 0, 1, 9, 3, id="late-at-the-end"),
    ],
)
def test_queues_by_hand(times, fixed_s, factor, max_response_s, first_late) -> None:
    found = replayed(service(times, fixed_s), factor)
    assert (found.max_response_s, found.first_late_second(LIMIT_S)) == (pytest.approx(max_response_s), first_late)


def test_one_second_per_cycle() -> None:
    # Second t is answered when t + 1 cycles of 2 s are done.
    found = replayed(service([2.0] * 10, fixed_s=1), 1, ONE_BY_ONE)
    assert found.response_s == pytest.approx([2.0 + second for second in range(10)])
    assert (found.first_late_second(LIMIT_S), found.first_late_second(3)) == (4, 2)
    assert found.longest_by_minute() == [11.0]


def test_it_starts_where_the_input_starts_and_stops_at_minutes() -> None:
    # 58 ends at 68; 59 alone, the minute ends there: 78; then 60 to 78 together.
    found = replayed(service([10.0, 10.0] + [0.1] * 30, first_second=58))
    assert found.first_late_second(LIMIT_S) == 58
    assert found.max_response_s == pytest.approx(78 - 59)


def test_answers_are_read_before_the_cycle_ends() -> None:
    read_at_once = Service(0, np.full(3, 0.5), np.full(3, 2.0))
    # 0 is answered at 0.5 and ends at 2; 1 and 2 are answered at 3.
    assert replayed(read_at_once).max_response_s == pytest.approx(2.0)


def cycles_of(costs: Service, factor: float, catch_up: bool) -> list[Cycle]:
    """The real loop on the virtual clock, with an engine that takes so long."""
    now, cycles = 0.0, list[Cycle]()
    clock = Clock("virtual", costs.first_second, lambda: now)

    def handle(batch: Batch) -> tuple[float, Mapping[str, float]]:
        nonlocal now
        now += factor * costs.of(batch.seconds)[0]
        return clock.now(), {}

    poller = Poller(costs.seconds, 1, clock, lambda taken: Batch(taken, ()), handle, cycles.append, catch_up=catch_up)
    run_polls(poller, clock, 1)
    return cycles


def write_cycles(folder: Path, costs: Service, tuples: np.ndarray, cycles: list[Cycle], hiccup: int = -1) -> Path:
    folder.mkdir(exist_ok=True)
    lines = ["first_second,last_second,rows,due,started,committed,ended,backlog_s"]
    for number, cycle in enumerate(cycles):
        first, last = cycle.seconds[0], cycle.seconds[-1]
        rows = tuples[first - costs.first_second : last + 1 - costs.first_second].sum()
        extra = 20 if number == hiccup else 0
        times = f"{cycle.started:.6f},{cycle.committed + extra:.6f},{cycle.ended + extra:.6f}"
        lines.append(f"{first},{last},{rows:.0f},{first},{times},0")
    (folder / "cycles.csv").write_text("\n".join(lines) + "\n")
    return folder


def linear(tuples: np.ndarray, first_second: int, fixed_s: float, tuple_s: float, minute_s: float) -> Service:
    seconds = np.arange(first_second, first_second + len(tuples))
    times = fixed_s + tuple_s * tuples + minute_s * (seconds % 60 == 0)
    return Service(first_second, times, times, fixed_s)


@pytest.mark.parametrize("catch_up", [True, False])
@pytest.mark.parametrize("xways", [0.5, 1.0, 4.0])
def test_a_run_replayed_is_the_run(tmp_path: Path, xways: float, catch_up: bool) -> None:
    tuples = xways * np.linspace(100, 1500, 900).round()
    costs = linear(tuples, 60, 0.05, 2e-4, 0.35)
    # A hiccup, which nobody repeats.
    run = write_cycles(tmp_path / "run", costs, tuples, cycles_of(costs, 1, catch_up), hiccup=333)
    found = measured_service(run)
    assert found.fixed_s == pytest.approx(0.05, rel=0.25)
    for factor in (1, 3):
        right = max(cycle.committed - cycle.seconds[0] for cycle in cycles_of(costs, factor, catch_up))
        # A batch more or less makes a jump.
        near = 0.15 if catch_up else 0.01
        assert replayed(found, factor, Schedule(1, catch_up)).max_response_s == pytest.approx(right, rel=near)


def test_what_another_road_would_take(tmp_path: Path) -> None:
    """By the tuples in each of its seconds."""
    dataset = road(tmp_path / "road", 1)
    tuples = np.linspace(0, 100, 900).round()
    costs = linear(tuples, 0, 0.01, 1e-3, 0.5)
    run = write_cycles(tmp_path / "run", costs, tuples, cycles_of(costs, 1, False))
    found = predicted_service([run], dataset, range(SECONDS))
    fed_tuples = sum(count for kind, count in dataset.counts.items() if kind != "vehicles")
    fed = [found.cycle_s[second] - 0.01 - 0.5 * (second % 60 == 0) for second in range(SECONDS)]
    assert sum(fed) == pytest.approx(1e-3 * fed_tuples, rel=0.05)


def test_the_fit_hits_the_failure_and_keeps_the_pass() -> None:
    rising = np.linspace(0.001, 0.01, 600)
    half, whole = service(list(rising)), service(list(2 * rising))
    factor, passes = fitted(half, whole, 200, LIMIT_S)
    assert passes
    # A batch more or less makes a jump.
    assert replayed(whole, factor).max_response_s == pytest.approx(200, rel=0.1)
    assert replayed(half, factor).first_late_second(LIMIT_S) is None
    # What the half cannot bear is not asked of it.
    factor, passes = fitted(half, whole, 5000, LIMIT_S)
    assert not passes
    assert replayed(half, factor).first_late_second(LIMIT_S) is None
    assert replayed(half, factor * 1.01).first_late_second(LIMIT_S) is not None
