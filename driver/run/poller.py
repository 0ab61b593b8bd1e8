"""Feed a data set to an engine on schedule.

The schedule is fixed before the run: second t arrives at t on the run's clock and is due at the next poll, whatever the
engine does.  A slow engine makes the next batches late but never moves their due time, so the delay stays visible in
lag and response time (no coordinated omission).
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from driver.run.clock import Clock
from polling_baseline import spec
from polling_baseline.batch import Batch

# A vehicle reports every 30 s, and an engine may count on meeting it once in a batch.
LONGEST_BATCH_S = spec.REPORT_PERIOD_S - 1
# The real clock starts this long before the first second, so that the scheduler is ready for it.
LEAD_S = 0.5
ROUNDING_S = 1e-6

# Gives the moment when the batch's answers could be read, and the milliseconds of each step.
Handle = Callable[[Batch], tuple[float, Mapping[str, float]]]


@dataclass(frozen=True, slots=True)
class Cycle:
    """One batch handed to the engine; times are seconds on the run's clock."""

    seconds: range
    rows: int
    due: float
    started: float
    # When the answers could be read, and when the driver had read them.
    committed: float
    ended: float
    backlog_s: int
    # Milliseconds of each step, by the engine's names.
    steps: Mapping[str, float]

    @property
    def lag(self) -> float:
        return self.started - self.due


def due(second: int, period_s: float) -> float:
    """When a second should reach the engine: at the first poll after its arrival."""
    return math.ceil(second / period_s) * period_s


def seconds_to_take(next_second: int, arrived: int, catch_up: bool = True) -> range:
    """The seconds of the next batch: one; to catch up, all that have arrived, of one minute, fewer than 30."""
    if not catch_up:
        return range(next_second, next_second + 1)
    minute_end = (next_second // spec.MINUTE_S + 1) * spec.MINUTE_S - 1
    return range(next_second, min(arrived, minute_end, next_second + LONGEST_BATCH_S - 1) + 1)


class Poller:
    """Hands over what has arrived, each period; when a cycle overran its period, the next one follows at once."""

    def __init__(
        self,
        seconds: range,
        period_s: float,
        clock: Clock,
        take: Callable[[range], Batch],
        handle: Handle,
        done: Callable[[Cycle], None],
        warm_up: range = range(0),
        catch_up: bool = True,
    ) -> None:
        self._catch_up = catch_up
        self._seconds, self._period_s, self._clock, self._warm_up = seconds, period_s, clock, warm_up
        self._take, self._handle, self._done = take, handle, done
        self._next = seconds.start
        self._tick = due(seconds.start, period_s)
        self.stopping = threading.Event()
        self.finished = threading.Event()
        self.failure: BaseException | None = None

    @property
    def tick(self) -> float:
        """When the next poll is due."""
        return self._tick

    def poll(self) -> None:
        """One tick, or as many as have become overdue; a failure ends the run."""
        try:
            while not self.finished.is_set():
                self._cycle()
                passed = math.floor((self._clock.now() - self._tick) / self._period_s)
                self._tick += max(1, passed) * self._period_s
                if passed < 1:
                    return
        except BaseException as failure:
            self.failure = failure
            self.finished.set()

    def _cycle(self) -> None:
        """All seconds that have arrived, in as few batches as the rules allow."""
        arrived = self._arrived(self._clock.now())
        while self._next <= arrived and not self.stopping.is_set():
            with self._clock.paused():
                batch = self._take(seconds_to_take(self._next, arrived, self._catch_up))
            # What comes next does not wait for a second of the warm-up; its own answers take as long as they take.
            with self._clock.paused() if self._next in self._warm_up else nullcontext():
                self.hand_over(batch, self._handle)
        if self._next >= self._seconds.stop or self.stopping.is_set():
            self.finished.set()

    def hand_over(self, batch: Batch, handle: Handle) -> None:
        """Let it be handled and enter that as a cycle; what follows the batch comes next."""
        started = self._clock.now()
        committed, steps = handle(batch)
        ended = self._clock.now()
        self._next = batch.seconds.stop
        self._done(
            Cycle(
                seconds=batch.seconds,
                rows=len(batch),
                due=due(batch.seconds.start, self._period_s),
                started=started,
                committed=committed,
                ended=ended,
                backlog_s=self._arrived(ended) - self._next + 1,
                steps=steps,
            )
        )

    def _arrived(self, now: float) -> int:
        """The last second that has arrived; a clock that was set to a second may be a rounding error short of it."""
        return min(math.floor(now + ROUNDING_S), self._seconds.stop - 1)


def run_polls(poller: Poller, clock: Clock, period_s: float) -> None:
    """Poll each period until the input is through: by APScheduler on the real clock, at once on the virtual one."""
    if clock.kind == "virtual":
        while not poller.finished.is_set():
            clock.wait_until(poller.tick)
            poller.poll()
    else:
        first = datetime.now(timezone.utc) + timedelta(seconds=poller.tick - clock.now())
        logging.getLogger("apscheduler").setLevel(logging.ERROR)
        scheduler = BackgroundScheduler(timezone=timezone.utc, executors={"default": ThreadPoolExecutor(1)})
        scheduler.add_job(
            poller.poll,
            "interval",
            seconds=period_s,
            start_date=first,
            # A tick that comes while a cycle runs is dropped, without a word: the cycle goes on with what is overdue.
            max_instances=1,
            coalesce=True,
            misfire_grace_time=None,
        )
        scheduler.start()
        try:
            while not poller.finished.wait(0.2):
                pass
        finally:
            scheduler.shutdown()
    if poller.failure:
        raise poller.failure
