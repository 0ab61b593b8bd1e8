"""Between the loop and the engine: batches go in, answers and cycles go on record."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import cast

from driver.run.clock import Clock
from driver.run.config import RunConfig
from driver.run.limits import Limits
from driver.run.live import LiveView
from driver.run.poller import Cycle
from driver.run.recording import Recording
from polling_baseline.batch import Answers, Batch
from polling_baseline.engine import Engine, EngineFailure, PacedEngine


class Desk:
    """Hands batches to the engine, and its answers to the recording."""

    def __init__(
        self, engine: Engine, clock: Clock, recording: Recording, view: LiveView, limits: Limits, config: RunConfig
    ) -> None:
        self._limits = limits
        self._engine, self._clock, self._recording, self.view = engine, clock, recording, view
        self._slower, self._last_second = config.slower, config.seconds[-1]
        self.own_s, self.late = 0.0, False
        # Of a paced engine: the cycles that it is not done with, and when it was done with one last.
        self._open: list[Cycle] = []
        self._through_at = -math.inf

    def process(self, batch: Batch) -> tuple[float, Mapping[str, float]]:
        return self.handle(batch, self._engine.process)

    def handle(
        self, batch: Batch, process: Callable[[Batch], Mapping[str, float]]
    ) -> tuple[float, Mapping[str, float]]:
        """Let the engine do it, and take the answers, which can be read from then on."""
        with self._clock.engine_at_work():
            steps = process(batch)
        committed = self._clock.now()
        self._take(committed)
        return committed, {step: self._slower * ms for step, ms in steps.items()}

    def _take(self, committed: float) -> None:
        """Record the answers that there are."""
        at = self._clock.reader()
        for answers in self._answers():
            written = self._clock.now()
            emit = committed if answers.read_at is None else at(answers.read_at)
            longest_s = self._recording.answers(answers, emit)
            self.late = self.late or longest_s > self._limits[answers.kind]
            self.view.answered(answers.kind, longest_s)
            self.own_s += self._clock.now() - written

    def finish(self) -> None:
        """The input is through: take what the engine has still to say."""
        finish = getattr(self._engine, "finish", lambda: True)
        while not finish():
            self._take(self._clock.now())

    def take_rest(self) -> None:
        """Record what came after the last batch, and of a paced engine the cycles whose end nobody knows."""
        if not hasattr(self._engine, "finish"):
            return
        with contextlib.suppress(OSError, EngineFailure):
            self._take(self._clock.now())
            if isinstance(self._engine, PacedEngine):
                self._enter_those_through()
            for cycle in self._open:
                self._enter(cycle)

    def _answers(self) -> Iterator[Answers]:
        """Reading them is the engine's work, too."""
        answers = self._engine.answers()
        while True:
            with self._clock.engine_at_work():
                part = next(answers, None)
            if part is None:
                return
            yield part

    def enter(self, cycle: Cycle) -> None:
        if isinstance(self._engine, PacedEngine):
            self._open.append(cycle)
            self._enter_those_through()
        else:
            self._enter(cycle)

    def _enter_those_through(self) -> None:
        """A paced engine's cycle lasts from when it got the input, or was done with what came before, until then."""
        at = self._clock.reader()
        for second, moment in cast(PacedEngine, self._engine).through():
            ended = at(moment)
            while self._open and self._open[0].seconds[-1] <= second:
                cycle = self._open.pop(0)
                started = max(cycle.started, min(self._through_at, ended))
                backlog_s = max(0, min(math.floor(ended), self._last_second) - cycle.seconds[-1])
                self._enter(replace(cycle, started=started, committed=ended, ended=ended, backlog_s=backlog_s))
                self._through_at = ended

    def _enter(self, cycle: Cycle) -> None:
        # What makes it durable is done in idle time.
        with self._clock.paused():
            self._recording.cycle(cycle)
        self.view.cycle(cycle, self._clock.now())
