"""A slower machine by arithmetic, against queues worked out by hand and against the driver's loop."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from driver.rating.slower_machine import (
    Cost,
    Costs,
    Curve,
    Schedule,
    Service,
    fitted,
    fitted_curve,
    measured_costs,
    replayed,
    tuples_per_second,
)
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


def test_a_minute_costs_extra() -> None:
    usual, minute = (Cost(curve, curve) for curve in (Curve(0.1), Curve(7.0)))
    found = replayed(Costs(usual, minute).service(58, np.zeros(10)))
    assert (found.max_response_s, found.first_late_second(LIMIT_S)) == (pytest.approx(7.0), 60)


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
def test_a_run_replayed_is_the_run(tmp_path: Path, catch_up: bool) -> None:
    rates = {xways: xways * np.linspace(100, 1500, 900).round() for xways in (0.5, 1.0, 4.0)}
    roads = {xways: linear(tuples, 60, 0.05, 2e-4, 0.35) for xways, tuples in rates.items()}
    runs = {
        # A hiccup, which nobody repeats.
        xways: write_cycles(tmp_path / f"{xways}", road, rates[xways], cycles_of(road, 1, catch_up), hiccup=333)
        for xways, road in roads.items()
    }
    # With catching up, the one of 4 expressways took several seconds at once.
    assert (len(cycles_of(roads[4.0], 1, catch_up)) < 900) == catch_up
    costs = measured_costs(runs)
    assert costs.usual.cycle.fixed_s == pytest.approx(0.05, rel=0.02)
    assert costs.usual.cycle.tuple_s == pytest.approx(2e-4, rel=0.02)
    assert costs.minute.answer.fixed_s == pytest.approx(0.4, rel=0.05)
    for xways, costs_of_road in roads.items():
        found = costs.service(60, rates[xways])
        for factor in (1, 3):
            right = max(cycle.committed - cycle.seconds[0] for cycle in cycles_of(costs_of_road, factor, catch_up))
            assert replayed(found, factor, Schedule(1, catch_up)).max_response_s == pytest.approx(right, rel=0.05)


@pytest.mark.parametrize(
    ("tuples", "times", "curve"),
    [
        pytest.param([7], [0.3], (0.3, 0.0, 0.0), id="one-cycle"),
        pytest.param([7] * 20, [0.1, 0.3] * 10, (0.2, 0.0, 0.0), id="always-as-many"),
        pytest.param(range(100), [3.0 - n / 100 for n in range(100)], (2.4, 0.0, 0.0), id="quicker-with-more"),
        pytest.param(range(1000), [0.01 + 1e-4 * n for n in range(1000)], (0.01, 1e-4, 0.0), id="linear"),
        pytest.param(range(1000), [0.01 + 1e-6 * n * n for n in range(1000)], (0.01, 0.0, 1e-6), id="quadratic"),
    ],
)
def test_curves(tuples: list[int], times: list[float], curve: tuple[float, float, float]) -> None:
    found = fitted_curve(np.array(tuples, float), np.array(times))
    assert (found.fixed_s, found.tuple_s, found.square_s) == pytest.approx(curve, rel=0.1, abs=1e-9)
    assert found.of(np.array([0.0, 10.0])) == pytest.approx(
        [found.fixed_s, Curve(*curve).of(np.array([10.0]))[0]], rel=0.1
    )


def test_what_a_tuple_takes_may_grow_with_the_expressways(tmp_path: Path) -> None:
    """Each tuple reads all segments; two runs tell what a third one takes."""
    curve, runs = Curve(0.01, 2e-5, 1e-8, 3e-5), {}
    rates = {xways: xways * np.linspace(100, 1500, 900).round() for xways in (0.5, 1.0, 2.0)}
    for xways in (0.5, 1.0):
        times = curve.of(rates[xways], xways)
        road = Service(0, times, times)
        runs[xways] = write_cycles(tmp_path / f"{xways}", road, rates[xways], cycles_of(road, 1, False))
    costs = measured_costs(runs, by_xways=True)
    assert costs.usual.cycle.tuple_xway_s == pytest.approx(3e-5, rel=0.01)
    assert costs.usual.cycle.of(rates[2.0], 2.0) == pytest.approx(curve.of(rates[2.0], 2.0), rel=0.01)
    assert costs.service(1, rates[2.0], 2.0).cycle_s[0] == costs.usual.cycle.of(rates[2.0], 2.0)[0]
    # By the tuples alone, it would seem to take less while they are few.
    by_tuples = measured_costs(runs).usual.cycle
    assert by_tuples.tuple_xway_s == 0
    assert by_tuples.of(rates[2.0], 2.0)[0] < 0.9 * curve.of(rates[2.0], 2.0)[0]


def test_how_many_tuples_a_road_has(tmp_path: Path) -> None:
    dataset = road(tmp_path / "road", 1)
    fed = tuples_per_second(dataset, range(SECONDS))
    assert len(fed) == SECONDS
    assert fed.sum() == sum(count for kind, count in dataset.counts.items() if kind != "vehicles")


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
