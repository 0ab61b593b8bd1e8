"""A slower machine by arithmetic, against queues worked out by hand and against the driver's loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from driver.rating.slower_machine import Cost, Line, Replayed, Service, _line, fitted, measured_services, replayed
from driver.run.clock import Clock
from driver.run.poller import Cycle, Poller, run_polls
from polling_baseline.batch import Batch


def service(times: list[float], fixed_s: float = 0.0, first_second: int = 0) -> Service:
    """Seconds that take so long alone, until the answers can be read and until the cycle ends."""
    line = Line(fixed_s, 1.0)
    cost = Cost(line, line)
    return Service(first_second, np.array(times) - fixed_s, cost, cost)


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
    assert found == Replayed(pytest.approx(max_response_s), first_late)


def test_it_starts_where_the_input_starts_and_stops_at_minutes() -> None:
    # 58 ends at 68; 59 alone, the minute ends there: 78; then 60 to 78 together.
    found = replayed(service([10.0, 10.0] + [0.1] * 30, first_second=58))
    assert found.first_late_second == 58
    assert found.max_response_s == pytest.approx(78 - 59)


def test_answers_are_read_before_the_cycle_ends() -> None:
    cost = Cost(Line(0.0, 0.5), Line(0.0, 2.0))
    read_at_once = Service(0, np.ones(3), cost, cost)
    # 0 is answered at 0.5 and ends at 2; 1 and 2 are answered at 3.
    assert replayed(read_at_once).max_response_s == pytest.approx(2.0)


def test_a_minute_costs_extra() -> None:
    usual, minute = (Cost(line, line) for line in (Line(0.1, 0.0), Line(7.0, 0.0)))
    found = replayed(Service(58, np.zeros(10), usual, minute))
    assert found == Replayed(pytest.approx(7.0), 60)


def driven(costs: Service, factor: float) -> list[Cycle]:
    """The real loop on the virtual clock, with an engine that takes so long."""
    now, cycles = 0.0, list[Cycle]()
    clock = Clock("virtual", costs.first_second, lambda: now)

    def handle(batch: Batch) -> tuple[float, Mapping[str, float]]:
        nonlocal now
        now += factor * costs.of(batch.seconds)[0]
        return clock.now(), {}

    seconds = range(costs.first_second, costs.first_second + len(costs.tuples))
    run_polls(Poller(seconds, 1, clock, lambda taken: Batch(taken, ()), handle, cycles.append), clock, 1)
    return cycles


def write_cycles(folder: Path, costs: Service, cycles: list[Cycle]) -> None:
    folder.mkdir(exist_ok=True)
    lines = ["first_second,last_second,rows,due,started,committed,ended,backlog_s"]
    for cycle in cycles:
        first, last = cycle.seconds[0], cycle.seconds[-1]
        rows = costs.tuples[first - costs.first_second : last + 1 - costs.first_second].sum()
        lines.append(f"{first},{last},{rows:.0f},{first},{cycle.started:.6f},{cycle.committed:.6f},{cycle.ended:.6f},0")
    (folder / "cycles.csv").write_text("\n".join(lines) + "\n")


def longest(cycles: list[Cycle]) -> float:
    return max(cycle.committed - cycle.seconds[0] for cycle in cycles)


def test_a_run_replayed_is_the_run(tmp_path: Path) -> None:
    usual, minute = (Cost(line, line) for line in (Line(0.05, 2e-4), Line(0.4, 3e-4)))
    roads = {
        xways: Service(60, xways * np.linspace(100, 1500, 900).round(), usual, minute) for xways in (0.5, 1.0, 4.0)
    }
    for xways, road in roads.items():
        cycles = driven(road, 1)
        # A hiccup, which nobody repeats.
        cycles[333] = replace(cycles[333], ended=cycles[333].ended + 20, committed=cycles[333].committed + 20)
        write_cycles(tmp_path / str(xways), road, cycles)
    # The one of 4 expressways took several seconds at once.
    assert len(cycles) < 900
    found = measured_services({xways: tmp_path / str(xways) for xways in roads})
    for xways, road in roads.items():
        cost = found[xways].usual.cycle
        assert (cost.fixed_s, cost.tuple_s) == (pytest.approx(0.05, rel=0.01), pytest.approx(2e-4, rel=0.01))
        assert found[xways].minute.answer.fixed_s == pytest.approx(0.4, rel=0.05)
        for factor in (1, 3):
            assert replayed(found[xways], factor).max_response_s == pytest.approx(
                longest(driven(road, factor)), rel=0.05
            )


@pytest.mark.parametrize(
    ("rows", "took_s", "line"),
    [
        pytest.param([7], [0.3], (0.3, 0.0), id="one-cycle"),
        pytest.param([7] * 20, [0.1, 0.3] * 10, (0.2, 0.0), id="always-as-many"),
        pytest.param(list(range(20)), [0.4 - row / 100 for row in range(20)], (0.305, 0.0), id="quicker-with-more"),
        pytest.param([10] * 10 + [20] * 10, [1.0] * 10 + [3.0] * 10, (0.0, 4 / 30), id="less-than-nothing-when-idle"),
    ],
)
def test_a_line_through_little(rows: list[int], took_s: list[float], line: tuple[float, float]) -> None:
    found = _line(np.array(rows, float), np.array(took_s))
    assert (found.fixed_s, found.tuple_s) == pytest.approx(line)


def test_the_fit_hits_the_failure_and_keeps_the_pass() -> None:
    rising = np.linspace(0.001, 0.01, 600)
    half, whole = service(list(rising)), service(list(2 * rising))
    factor, passes = fitted(half, whole, 200)
    assert passes
    # A batch more or less makes a jump.
    assert replayed(whole, factor).max_response_s == pytest.approx(200, rel=0.1)
    assert replayed(half, factor).first_late_second is None
    # What the half cannot bear is not asked of it.
    factor, passes = fitted(half, whole, 5000)
    assert not passes
    assert replayed(half, factor).first_late_second is None
    assert replayed(half, factor * 1.01).first_late_second is not None
