"""A slower machine by arithmetic: what a second takes, multiplied, laid on the driver's own schedule.

A cycle takes so much, and so much more for each tuple; that of a minute's first second has numbers of its own.  They
come from the cycles of all runs of an engine together: a machine is quicker in one run than in the next, and what is
multiplied by a hundred must not depend on that.  A batch of several seconds pays the fixed part once, as in a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from driver.run.clock import Clock
from driver.run.journal import read_cycles
from driver.run.poller import Cycle, Poller, run_polls
from polling_baseline import spec
from polling_baseline.batch import Batch

Numbers = npt.NDArray[np.float64]
# Of cycles with about as many tuples, the median: a hiccup is not multiplied either.
GROUPS, LEAST = 60, 5
# A machine slower than so many times is not looked for.
MOST = 1e9
PRECISION = 1e-4


@dataclass(frozen=True, slots=True)
class Line:
    """What a cycle takes: a fixed part, and a part for each tuple."""

    fixed_s: float
    tuple_s: float

    def of(self, tuples: float) -> float:
        return self.fixed_s + self.tuple_s * tuples


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a cycle until its answers can be read, and until the next one can begin."""

    answer: Line
    cycle: Line


@dataclass(frozen=True, slots=True)
class Service:
    """The tuples of each second, and what they cost; in a minute's first second something else."""

    first_second: int
    tuples: Numbers
    usual: Cost
    minute: Cost

    def of(self, seconds: range) -> tuple[float, float]:
        """The two times of a batch of these seconds."""
        tuples = float(self.tuples[seconds.start - self.first_second : seconds.stop - self.first_second].sum())
        cost = self.usual if seconds.start % spec.MINUTE_S else self.minute
        return cost.answer.of(tuples), cost.cycle.of(tuples)


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a run with such service times would have shown."""

    max_response_s: float
    first_late_second: int | None


def replayed(service: Service, factor: float = 1.0, period_s: float = 1.0) -> Replayed:
    """Run the schedule with every service time multiplied by `factor`; it takes no time but the computation's."""
    now, cycles = 0.0, list[Cycle]()
    first = service.first_second
    clock = Clock("virtual", first, lambda: now)

    def handle(batch: Batch) -> tuple[float, Mapping[str, float]]:
        nonlocal now
        answer_s, cycle_s = service.of(batch.seconds)
        now += factor * answer_s
        answered = clock.now()
        now += factor * (cycle_s - answer_s)
        return answered, {}

    seconds = range(first, first + len(service.tuples))
    run_polls(Poller(seconds, period_s, clock, lambda taken: Batch(taken, ()), handle, cycles.append), clock, period_s)
    # Of a batch, its first second has waited longest.
    response = np.array([cycle.committed - cycle.seconds[0] for cycle in cycles])
    limit_s = spec.DEADLINE_S["toll"]
    late = (second for cycle in cycles for second in cycle.seconds if cycle.committed - second > limit_s)
    return Replayed(float(response.max()), next(late, None))


def measured_services(runs: Mapping[float, Path]) -> dict[float, Service]:
    """The service times of one engine's runs on disk."""
    cycles = {xways: _columns(run) for xways, run in runs.items()}
    first, _, tuples, started, committed, ended = np.concatenate(list(cycles.values()), axis=1)
    begins = first % spec.MINUTE_S == 0
    usual, minute = (
        Cost(*(_line(tuples[part], (until - started)[part]) for until in (committed, ended)))
        for part in (~begins, begins)
    )
    return {
        xways: Service(
            int(first[0]), np.repeat(tuples / (last - first + 1), (last - first + 1).astype(int)), usual, minute
        )
        for xways, (first, last, tuples, *_) in cycles.items()
    }


def _columns(run: Path) -> Numbers:
    """First and last second, tuples, start, commit and end of each cycle."""
    return np.array(
        [
            (cycle.seconds[0], cycle.seconds[-1], cycle.rows, cycle.started, cycle.committed, cycle.ended)
            for cycle in read_cycles(run)
        ],
        float,
    ).T


def _line(tuples: Numbers, took_s: Numbers) -> Line:
    """Through the medians of cycles with about as many tuples; neither part is negative."""
    order = np.argsort(tuples, kind="stable")
    groups = np.array_split(order, max(1, min(GROUPS, len(order) // LEAST)))
    counts, times = (np.array([np.median(values[group]) for group in groups]) for values in (tuples, took_s))
    if counts[0] == counts[-1]:
        return Line(float(np.median(took_s)), 0.0)
    tuple_s, fixed_s = (float(part) for part in np.polyfit(counts, times, 1))
    if tuple_s < 0:
        return Line(float(np.median(took_s)), 0.0)
    return Line(fixed_s, tuple_s) if fixed_s >= 0 else Line(0.0, float(times.sum() / counts.sum()))


def fitted(passes: Service, fails: Service, wanted_s: float, period_s: float = 1.0) -> tuple[float, bool]:
    """The factor by which `fails` has the longest response time `wanted_s`; and whether `passes` then still passes.

    If it does not, the factor is the largest one by which it does.
    """
    factor = _largest(lambda factor: replayed(fails, factor, period_s).max_response_s <= wanted_s)
    if replayed(passes, factor, period_s).first_late_second is None:
        return factor, True
    return _largest(lambda factor: replayed(passes, factor, period_s).first_late_second is None), False


def _largest(holds: Callable[[float], bool]) -> float:
    """The largest factor for which something holds that holds for small ones only."""
    low, high = 0.0, 1.0
    while high < MOST and holds(high):
        low, high = high, 2 * high
    while high - low > PRECISION * high:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
