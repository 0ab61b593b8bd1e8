"""A slower machine by arithmetic, against queues worked out by hand and against the driver's loop."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from driver.clock import Clock
from driver.recording import Recording
from driver.replay import Poller, run_polls
from driver.slowed import Replayed, Service, fitted, measured_service, replayed
from polling_baseline.batch import Batch


def service(times: list[float], fixed_s: float = 0.0, first_second: int = 0) -> Service:
    """The same time until the answers can be read and until the cycle ends."""
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
    assert found == Replayed(pytest.approx(max_response_s), first_late)


def test_it_starts_where_the_input_starts_and_stops_at_minutes() -> None:
    # 58 ends at 68; 59 alone, the minute ends there: 78; then 60 to 78 together.
    found = replayed(service([10.0, 10.0] + [0.1] * 30, first_second=58))
    assert found.first_late_second == 58
    assert found.max_response_s == pytest.approx(78 - 59)


def test_answers_are_read_before_the_cycle_ends() -> None:
    read_at_once = Service(0, np.full(3, 0.5), np.full(3, 2.0))
    # 0 is answered at 0.5 and ends at 2; 1 and 2 are answered at 3.
    assert replayed(read_at_once).max_response_s == pytest.approx(2.0)


def driven(folder: Path, times: list[float], fixed_s: float, first_second: int) -> Recording:
    """A run of the real loop on the virtual clock, with a recording; rows are proportional to the time."""
    now = 0.0
    clock = Clock("virtual", first_second, lambda: now)
    costs = service(times, fixed_s, first_second)

    def handle(batch: Batch) -> tuple[float, Mapping[str, float]]:
        nonlocal now
        now += costs.of(batch.seconds)[0]
        return clock.now(), {}

    recording = Recording(folder)
    seconds = range(first_second, first_second + len(times))
    run_polls(Poller(seconds, 1, clock, lambda taken: Batch(taken, ()), handle, recording.cycle), clock, 1)
    recording.close()
    return recording


def test_a_run_replayed_is_the_run(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    # Equal minutes, so that the median changes nothing; never more than a second, so that each cycle has one.
    times = list(np.tile(rng.uniform(0.2, 0.95, 60), 4))
    recording = driven(tmp_path, times, 0.0, 60)
    again = measured_service(tmp_path)
    assert again.cycle_s == pytest.approx(times, abs=2e-4)
    longest = max(cycle.committed - cycle.seconds[0] for cycle in recording.cycles)
    assert replayed(again).max_response_s == pytest.approx(longest, abs=1e-3)
    slow = driven(tmp_path, [time * 3 for time in times], 0.0, 60)
    longest = max(cycle.committed - cycle.seconds[0] for cycle in slow.cycles)
    assert replayed(again, 3).max_response_s == pytest.approx(longest, abs=0.2)


def write_cycles(folder: Path, rows: list[int], took_s: list[float]) -> None:
    lines = ["first_second,last_second,rows,due,started,committed,ended,backlog_s"]
    lines += [
        f"{second},{second},{count},{second},{second},{second + took:.6f},{second + took:.6f},0"
        for second, (count, took) in enumerate(zip(rows, took_s, strict=True))
    ]
    (folder / "cycles.csv").write_text("\n".join(lines) + "\n")


def test_the_fixed_part_of_a_cycle_and_a_hiccup(tmp_path: Path) -> None:
    rows = [10 * second for second in range(900)]
    took = [0.05 + 1e-5 * count for count in rows]
    took[333] = 20.0
    write_cycles(tmp_path, rows, took)
    found = measured_service(tmp_path)
    assert found.fixed_s == pytest.approx(0.05, abs=0.002)
    assert found.cycle_s[333] == pytest.approx(0.05 + 1e-5 * rows[333], abs=0.01)


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
