"""A slower machine by arithmetic: what each second takes, multiplied, laid on the driver's own schedule.

Without catching up, a cycle takes one second of input however late it is, so the cycles of a run are those of a run on
a slower machine, and `--slower` shows what is computed here.  A machine is quicker in one moment than in the next, and
what is multiplied by a hundred must not depend on that: each second takes the median of the seconds around it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
# How many neighbours a median is taken of: seconds, and first seconds of minutes, which close the minute before.
NEIGHBOURS, MINUTES = 31, 5
# Of cycles with about as many tuples, the median.
GROUPS, LEAST = 60, 5
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
class Replayed:
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


def replayed(service: Service, factor: float = 1.0, schedule: Schedule = USUAL) -> Replayed:
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
    return Replayed(first, response_s)


def measured_service(run: Path) -> Service:
    """What each second of a run took."""
    first, length, tuples, answer_s, cycle_s = _columns(run)
    seconds = np.repeat(first, length.astype(int)) + _places(length)
    # A batch of several seconds has paid the fixed part once.
    fixed_s = _fixed_s(tuples, cycle_s)
    alone = ((times - fixed_s) / length + fixed_s for times in (answer_s, cycle_s))
    parts = [np.repeat(times, length.astype(int)) for times in alone]
    begins = seconds % spec.MINUTE_S == 0
    for part in parts:
        part[~begins] = _running_median(part[~begins], NEIGHBOURS)
        part[begins] = _running_median(part[begins], MINUTES)
    return Service(int(first[0]), parts[0], parts[1], fixed_s)


def predicted_service(runs: Sequence[Path], dataset: Dataset, seconds: range) -> Service:
    """What each second of a data set would take, by the tuples in it and what those of other runs took."""
    _, length, tuples, answer_s, cycle_s = np.concatenate([_columns(run) for run in runs], axis=1)
    rows = tuples_per_second(dataset, seconds)
    first = np.concatenate([_columns(run) for run in runs], axis=1)[0]
    begins = np.arange(seconds.start, seconds.stop) % spec.MINUTE_S == 0
    found = []
    for times in (answer_s, cycle_s):
        usual, minute = (_curve(tuples[part] / length[part], (times / length)[part]) for part in _split(first))
        found.append(np.where(begins, minute(rows), usual(rows)))
    return Service(seconds.start, found[0], found[1], _fixed_s(tuples, cycle_s))


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


def _split(first: Numbers) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    begins = first % spec.MINUTE_S == 0
    return ~begins, begins


def _columns(run: Path) -> Numbers:
    """First second, seconds, tuples, time until the answers and until the end of each cycle."""
    return np.array(
        [
            (
                cycle.seconds[0],
                len(cycle.seconds),
                cycle.rows,
                cycle.committed - cycle.started,
                cycle.ended - cycle.started,
            )
            for cycle in read_cycles(run)
        ],
        float,
    ).T


def _places(lengths: Numbers) -> npt.NDArray[np.int64]:
    """0, 1, ... within each cycle."""
    ends = np.cumsum(lengths)
    return np.arange(int(ends[-1])) - np.repeat(ends - lengths, lengths.astype(int)).astype(int)


def _running_median(values: Numbers, width: int) -> Numbers:
    if not len(values):
        return values
    padded = np.pad(values, width // 2, mode="edge")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, width), axis=1)


def _groups(tuples: Numbers, times: Numbers) -> tuple[Numbers, Numbers]:
    """Medians of tuples and times, of cycles with about as many tuples."""
    order = np.argsort(tuples, kind="stable")
    groups = np.array_split(order, max(1, min(GROUPS, len(order) // LEAST)))
    counts, medians = (np.array([np.median(values[group]) for group in groups]) for values in (tuples, times))
    return counts, medians


def _curve(tuples: Numbers, times: Numbers) -> Callable[[Numbers], Numbers]:
    """Time by tuples: straight between the groups, and on beyond the last third of them."""
    counts, medians = _groups(tuples, times)
    last = slice(-max(2, len(counts) // 3), None)
    if len(counts) < 2 or counts[last][0] == counts[-1]:
        return lambda rows: np.full(len(rows), float(np.median(times)))
    slope = max(0.0, float(np.polyfit(counts[last], medians[last], 1)[0]))
    return lambda rows: np.interp(rows, counts, medians) + slope * np.maximum(0, rows - counts[-1])


def _fixed_s(tuples: Numbers, times: Numbers) -> float:
    """What a straight line through the groups gives for no tuple; between 0 and the quickest group."""
    counts, medians = _groups(tuples, times)
    if counts[0] == counts[-1]:
        return 0.0
    return float(np.clip(np.polyfit(counts, medians, 1)[1], 0.0, medians.min()))


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
