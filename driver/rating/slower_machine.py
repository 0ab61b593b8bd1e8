"""A slower machine by arithmetic: what each second takes, multiplied, laid on the driver's own schedule.

Without catching up, a cycle takes one second of input however late it is, so the cycles of a run are those of a run on
a slower machine, and `--slower` shows what is computed here.  But a machine is quicker in one moment than in the next,
and what is multiplied by a hundred must not depend on that: what a cycle takes is a curve over its tuples, through the
cycles of all runs together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from driver.dataset.folder import Dataset
from driver.run.clock import Clock
from driver.run.feed import Feed
from driver.run.journal import read_cycles
from driver.run.poller import Poller, run_polls
from polling_baseline import spec
from polling_baseline.batch import Batch

Numbers = npt.NDArray[np.float64]
# Of cycles with about as many tuples, the median: a hiccup is not multiplied either.
GROUPS, LEAST = 60, 15
# A machine slower than so many times is not looked for.
MOST = 1e9
PRECISION = 1e-4


@dataclass(frozen=True, slots=True)
class Service:
    """What each second takes alone: until its answers can be read, and until the next cycle can begin."""

    first_second: int
    answer_s: Numbers
    cycle_s: Numbers
    # The part of a cycle that does not depend on its tuples; a batch of several seconds pays it once.
    fixed_s: float = 0.0

    @property
    def seconds(self) -> range:
        return range(self.first_second, self.first_second + len(self.cycle_s))

    def of(self, seconds: range) -> tuple[float, float]:
        """The two times of a batch of these seconds."""
        part = slice(seconds.start - self.first_second, seconds.stop - self.first_second)
        saved_s = (len(seconds) - 1) * self.fixed_s
        return float(self.answer_s[part].sum()) - saved_s, float(self.cycle_s[part].sum()) - saved_s


@dataclass(frozen=True, slots=True)
class Schedule:
    period_s: float = 1.0
    catch_up: bool = True


USUAL = Schedule()


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """What a run with such service times would have shown: how long the answers to each second took."""

    first_second: int
    response_s: Numbers

    @property
    def max_response_s(self) -> float:
        return float(self.response_s.max())

    def first_late_second(self, limit_s: float) -> int | None:
        late = np.flatnonzero(self.response_s > limit_s)
        return self.first_second + int(late[0]) if len(late) else None

    def longest_by_minute(self) -> list[float]:
        starts = range(0, len(self.response_s), spec.MINUTE_S)
        return [round(float(self.response_s[start : start + spec.MINUTE_S].max()), 1) for start in starts]


def replayed(service: Service, factor: float = 1.0, schedule: Schedule = USUAL) -> ReplayResult:
    """Run the schedule with every service time multiplied by `factor`; it takes no time but the computation's."""
    now, first = 0.0, service.first_second
    response_s = np.zeros(len(service.cycle_s))
    clock = Clock("virtual", first, lambda: now)

    def handle(batch: Batch) -> tuple[float, Mapping[str, float]]:
        nonlocal now
        answer_s, cycle_s = service.of(batch.seconds)
        now += factor * answer_s
        answered = clock.now()
        for second in batch.seconds:
            response_s[second - first] = answered - second
        now += factor * (cycle_s - answer_s)
        return answered, {}

    poller = Poller(
        service.seconds,
        schedule.period_s,
        clock,
        lambda taken: Batch(taken, ()),
        handle,
        lambda cycle: None,
        catch_up=schedule.catch_up,
    )
    run_polls(poller, clock, schedule.period_s)
    return ReplayResult(first, response_s)


@dataclass(frozen=True, slots=True)
class Curve:
    """What a cycle takes: a fixed part, one for each tuple, and one for each pair of them; none is negative.

    A design that reads all segments for a tuple has another one, for each tuple and expressway.
    """

    fixed_s: float
    tuple_s: float = 0.0
    square_s: float = 0.0
    tuple_xway_s: float = 0.0

    def of(self, tuples: Numbers, xways: float = 1.0) -> Numbers:
        return self.fixed_s + (self.tuple_s + self.tuple_xway_s * xways) * tuples + self.square_s * tuples**2


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a cycle until its answers can be read, and until the next one can begin."""

    answer: Curve
    cycle: Curve


@dataclass(frozen=True, slots=True)
class Costs:
    """Of a usual cycle, and of one that begins with a minute, and so draws the conclusions of the minute before."""

    usual: Cost
    minute: Cost

    def service(self, first_second: int, tuples: Numbers, xways: float = 1.0) -> Service:
        """What each second of a road takes, by the tuples in it."""
        begins = np.arange(first_second, first_second + len(tuples)) % spec.MINUTE_S == 0
        answer_s = np.where(begins, self.minute.answer.of(tuples, xways), self.usual.answer.of(tuples, xways))
        cycle_s = np.where(begins, self.minute.cycle.of(tuples, xways), self.usual.cycle.of(tuples, xways))
        return Service(first_second, answer_s, cycle_s, self.usual.cycle.fixed_s)


def measured_costs(runs: Mapping[float, Path], by_xways: bool = False) -> Costs:
    """What the cycles of these runs took, by their tuples; or by these and the run's expressways."""
    columns = [_columns(run, xways if by_xways else 1.0) for xways, run in runs.items()]
    first, xways, tuples, answer_s, cycle_s = np.concatenate(columns, axis=1)
    begins = first % spec.MINUTE_S == 0
    usual, minute = (
        Cost(*(fitted_curve(tuples[part], times[part], xways[part]) for times in (answer_s, cycle_s)))
        for part in (~begins, begins)
    )
    return Costs(usual, minute)


def _columns(run: Path, xways: float) -> Numbers:
    """First second, expressways, tuples, time until the answers and until the end of each cycle."""
    return np.array(
        [
            (cycle.seconds[0], xways, cycle.rows, cycle.committed - cycle.started, cycle.ended - cycle.started)
            for cycle in read_cycles(run)
        ],
        float,
    ).T


def fitted_curve(tuples: Numbers, times: Numbers, xways: Numbers | None = None) -> Curve:
    """Through the medians of cycles with about as many tuples; a miss counts by its share of the time."""
    xways = np.ones_like(tuples) if xways is None else xways
    groups = _groups(tuples, xways)
    counts, medians, scales = (
        np.array([np.median(values[group]) for group in groups]) for values in (tuples, times, xways)
    )
    terms = np.stack([np.ones_like(counts), counts, counts**2, counts * scales], axis=1)
    # With one number of expressways, a tuple's part cannot be told from that of a tuple and expressway.
    usable = range(4 if len(set(scales)) > 1 else 3)
    best, least = Curve(float(np.median(times))), math.inf
    for chosen in (part for size in range(1, len(usable) + 1) for part in combinations(usable, size)):
        if len(set(counts)) < len(chosen):
            continue
        fitted = np.linalg.lstsq(terms[:, chosen] / medians[:, None], np.ones(len(counts)), rcond=None)[0]
        missed = float(((terms[:, chosen] @ fitted / medians - 1) ** 2).sum())
        if (fitted >= 0).all() and missed < least:
            parts = dict(zip(chosen, map(float, fitted), strict=True))
            best, least = Curve(*(parts.get(term, 0.0) for term in range(4))), missed
    return best


def _groups(tuples: Numbers, xways: Numbers) -> list[npt.NDArray[np.intp]]:
    """Cycles of one number of expressways with about as many tuples."""
    groups = []
    for scale in np.unique(xways):
        order = np.flatnonzero(xways == scale)
        order = order[np.argsort(tuples[order], kind="stable")]
        groups += np.array_split(order, max(1, min(GROUPS, len(order) // LEAST)))
    return groups


def tuples_per_second(dataset: Dataset, seconds: range) -> Numbers:
    """How many tuples a run of these seconds is fed."""
    counts = np.zeros(len(seconds))
    feed = Feed(dataset, seconds, 1)
    for start in range(seconds.start, seconds.stop, spec.MINUTE_S):
        share = feed.take(range(start, min(start + spec.MINUTE_S, seconds.stop))).shares[0]
        for columns in (share.reports, share.requests):
            counts += np.bincount(columns["second"] - seconds.start, minlength=len(counts))
    feed.close()
    return counts


def fitted(
    passes: Service, fails: Service, wanted_s: float, limit_s: float, schedule: Schedule = USUAL
) -> tuple[float, bool]:
    """The factor by which `fails` has the longest response time `wanted_s`; and whether `passes` then still passes.

    If it does not, the factor is the largest one by which it does.
    """

    def passes_with(factor: float) -> bool:
        return replayed(passes, factor, schedule).max_response_s <= limit_s

    factor = _largest(lambda factor: replayed(fails, factor, schedule).max_response_s <= wanted_s)
    return (factor, True) if passes_with(factor) else (_largest(passes_with), False)


def _largest(holds: Callable[[float], bool]) -> float:
    """The largest factor for which something holds that holds for small ones only."""
    low, high = 0.0, 1.0
    while high < MOST and holds(high):
        low, high = high, 2 * high
    while high - low > PRECISION * high:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
