"""A slower machine by arithmetic: the service times of a run, multiplied, laid on the driver's own schedule.

What a second of input takes is taken from the run's cycles.  A hiccup of this machine would be multiplied too, so each
second gets the median of the same second of the minutes around it.  Part of a cycle's time does not depend on how much
it brings (statements, commit); a batch of several seconds pays that part once, as it does in a run.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from driver.clock import Clock
from driver.replay import Cycle, Poller, run_polls
from polling_baseline import spec
from polling_baseline.batch import Batch

Numbers = npt.NDArray[np.float64]
# How many minutes on either side the median looks at.
AROUND_MIN = 5
# A machine slower than so many times is not looked for.
MOST = 1e9
PRECISION = 1e-4


@dataclass(frozen=True, slots=True)
class Service:
    """What each second takes alone: until its answers can be read, and until the next cycle can begin."""

    first_second: int
    answer_s: Numbers
    cycle_s: Numbers
    # What a cycle takes without input, contained in each second's time.
    fixed_s: float = 0.0

    def of(self, seconds: range) -> tuple[float, float]:
        """The two times of a batch of these seconds."""
        part = slice(seconds.start - self.first_second, seconds.stop - self.first_second)
        once = (len(seconds) - 1) * self.fixed_s
        return float(self.answer_s[part].sum()) - once, float(self.cycle_s[part].sum()) - once


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

    seconds = range(first, first + len(service.cycle_s))
    run_polls(Poller(seconds, period_s, clock, lambda taken: Batch(taken, ()), handle, cycles.append), clock, period_s)
    # Of a batch, its first second has waited longest.
    response = np.array([cycle.committed - cycle.seconds[0] for cycle in cycles])
    limit_s = spec.DEADLINE_S["toll"]
    late = (second for cycle in cycles for second in cycle.seconds if cycle.committed - second > limit_s)
    return Replayed(float(response.max()), next(late, None))


def measured_service(run: Path) -> Service:
    """The service times of a run on disk."""
    with (run / "cycles.csv").open(newline="") as file:
        rows = [[float(row[name]) for name in COLUMNS] for row in csv.DictReader(file)]
    first, last, tuples, started, committed, ended = np.array(rows).T
    fixed_s = _fixed(tuples[first == last], (ended - started)[first == last])
    lengths = (last - first + 1).astype(int)
    answer_s, cycle_s = (
        # The seconds of a batch in equal parts, each with the part that they paid once.
        np.repeat((until - started + (lengths - 1) * fixed_s) / lengths, lengths)
        for until in (committed, ended)
    )
    return Service(int(first[0]), _smooth(answer_s), _smooth(cycle_s), fixed_s)


COLUMNS = ("first_second", "last_second", "rows", "started", "committed", "ended")


def _fixed(tuples: Numbers, took_s: Numbers) -> float:
    """The time of a cycle without input: where the line through the medians of fewer and of more input begins."""
    if len(tuples) < 2 or tuples.min() == tuples.max():
        return 0.0
    few = tuples <= np.median(tuples)
    if few.all():
        few = tuples < tuples.max()
    (few_tuples, few_s), (many_tuples, many_s) = (
        (float(np.median(tuples[part])), float(np.median(took_s[part]))) for part in (few, ~few)
    )
    slope = max(0.0, (many_s - few_s) / (many_tuples - few_tuples))
    return float(np.clip(few_s - slope * few_tuples, 0.0, took_s.min()))


def _smooth(took_s: Numbers) -> Numbers:
    """The median over the same second of up to eleven minutes: a minute's first second may well differ."""
    minutes = -(-len(took_s) // spec.MINUTE_S)
    table = np.pad(took_s, (0, minutes * spec.MINUTE_S - len(took_s)), "edge").reshape(minutes, spec.MINUTE_S)
    around = [table[max(0, minute - AROUND_MIN) : minute + AROUND_MIN + 1] for minute in range(minutes)]
    smooth = np.stack([np.median(each, axis=0) for each in around])
    found: Numbers = smooth.ravel()[: len(took_s)]
    return found


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
