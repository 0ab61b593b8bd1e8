"""One run: a data set, an engine, a clock, and the folder that keeps what came of it."""

from __future__ import annotations

import contextlib
import logging
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import cast

from driver.dataset.folder import Dataset
from driver.dataset.integrity import check_files
from driver.dataset.relabel import dataset_label
from driver.run.clock import Clock
from driver.run.config import RunConfig
from driver.run.engines import Backends, open_engine
from driver.run.feed import Feed
from driver.run.judge_status import read_status
from driver.run.limits import Limits, limits_in_force
from driver.run.live import LiveView
from driver.run.machine import cores_used_by_others, note_others
from driver.run.poller import LEAD_S, Cycle, Poller, run_polls
from driver.run.record import FORMAT, write_run
from driver.run.record_types import EngineFacts, RunJson, RunOptions
from driver.run.recording import Recording
from driver.run.resume import InterruptedRun, reopened
from driver.run.summary import environment, late_by, summary
from polling_baseline.batch import Answers, Batch
from polling_baseline.engine import Engine, EngineFailure, PacedEngine
from polling_baseline.refusal import Refusal

log = logging.getLogger("lrb")
# Where an engine that takes ad-hoc queries can be asked, while it runs.
QUERIES = "queries"


def measure(
    config: RunConfig,
    dataset: Dataset,
    backends: Backends,
    folder: Path,
    prepare: Callable[[Engine], None] = lambda engine: None,
) -> RunJson:
    """Make the run that the options describe, in a new folder, and give what its `run.json` says.

    `prepare` may change the engine once it is installed.
    """
    check_files(dataset)
    engine = open_engine(config, dataset, backends)
    try:
        with _refusing():
            engine.install()
            prepare(engine)
            folder.mkdir(parents=True)
            getattr(engine, "listen", lambda pointer: None)(folder / QUERIES)
            record = run(engine, dataset, config, folder)
        _keep(engine, folder)
        _discard(engine, record)
    finally:
        engine.stop()
    return record


def resume_run(folder: Path, backends: Backends) -> RunJson:
    """Go on with the run in this folder, which was killed or broke, and give what its `run.json` then says."""
    with _refusing(), reopened(folder, backends) as earlier:
        record = run(earlier.engine, earlier.dataset, earlier.config, folder, earlier)
        _discard(earlier.engine, record)
    return record


def run(
    engine: Engine, dataset: Dataset, config: RunConfig, folder: Path, earlier: InterruptedRun | None = None
) -> RunJson:
    """Feed the data set to the engine and give what `run.json` then says.

    Its `state` is `complete`, `late` (stopped at the first late answer, if so wanted), `interrupted` (Ctrl-C) or
    `broken`, with a `reason`; the folder holds what was measured in any case.  With `earlier`, the run goes on from
    there.
    """
    seconds = config.seconds
    rest = range(earlier.next_second, seconds.stop) if earlier else seconds
    start = seconds.start - (LEAD_S if config.clock == "real" else 0)
    # Before the clock starts; the engine is installed and idle.
    others_cores = None if earlier else cores_used_by_others()
    clock = Clock(config.clock, earlier.now() if earlier else start, slower=config.slower)
    if earlier:
        record = earlier.record(clock.now())
    else:
        record = _begun(config, dataset, engine.facts())
        record["zero_at"] = round(time.time() - clock.now(), 3)
        note_others(record["environment"]["machine"], others_cores)
    write_run(folder, record)
    recording = Recording(folder, config.profile.keeps_commits, *(earlier.recorded if earlier else ()))
    feed = Feed(dataset, earlier.to_feed if earlier else seconds, engine.workers, ahead=config.clock == "real")
    limits = limits_in_force(config.limits)
    view = LiveView(seconds, config.period_s, limits, folder)
    desk = _Desk(engine, clock, recording, view, limits, config)

    def done(cycle: Cycle) -> None:
        desk.enter(cycle)
        if desk.late and config.stop_when_late:
            poller.stopping.set()

    warm_up = seconds[: config.warm_up_s]
    poller = Poller(rest, config.period_s, clock, feed.take, desk.process, done, warm_up, config.catch_up)
    try:
        with view, _stop_on_signal(poller.stopping):
            if earlier and earlier.last:
                _complete(earlier, earlier.last, feed, poller, desk)
            run_polls(poller, clock, config.period_s)
            if not poller.stopping.is_set():
                desk.finish()
        record["state"] = "complete"
        if desk.late and config.stop_when_late:
            _end(record, "late", f"stopped at its first late answer, in second {_last(recording)}")
        elif poller.stopping.is_set():
            status = read_status(folder)
            by = "at a fault that the judge saw," if status and status["stops_run"] else "by the user"
            _end(record, "interrupted", f"stopped {by} after second {_last(recording)}")
        # Once more: what the run has cost is known only now.
        record["environment"]["engine"] = cast(EngineFacts, engine.facts())
    except KeyboardInterrupt:
        _end(record, "interrupted", "stopped by the user at once")
        raise
    except (EngineFailure, Refusal) as failure:
        _end(record, "broken", str(failure))
    except OSError as error:
        _end(record, "broken", _failed_write(error, folder))
    finally:
        feed.close()
        desk.take_rest()
        record["covered"] = [seconds.start, _last(recording)]
        _close(recording, record, desk.own_s, folder, limits)
    return record


class _Desk:
    """Hands batches to the engine, and its answers to the recording."""

    def __init__(
        self, engine: Engine, clock: Clock, recording: Recording, view: LiveView, limits: Limits, config: RunConfig
    ) -> None:
        self._limits = limits
        self._engine, self._clock, self._recording, self._view = engine, clock, recording, view
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
            self._view.answered(answers.kind, longest_s)
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
        self._view.cycle(cycle, self._clock.now())


def _complete(earlier: InterruptedRun, last: range, feed: Feed, poller: Poller, desk: _Desk) -> None:
    """The last batch before the outage: what is not done of it is done, what is not on record is entered."""
    batch = feed.take(last)
    if earlier.on_record:
        earlier.engine.complete(batch)
    else:
        poller.hand_over(batch, lambda batch: desk.handle(batch, earlier.engine.complete))


@contextmanager
def _refusing() -> Iterator[None]:
    """What fails before the run begins refuses it."""
    try:
        yield
    except EngineFailure as failure:
        raise Refusal(str(failure)) from None
    except OSError as error:
        raise Refusal(f"cannot write {error.filename or 'the run'}: {error.strerror or error}") from None


def _begun(config: RunConfig, dataset: Dataset, engine_facts: Mapping[str, object]) -> RunJson:
    return {
        "format": FORMAT,
        "state": "running",
        "config": cast(RunOptions, config.as_json()),
        "dataset": dataset_label(dataset),
        "environment": environment(cast(EngineFacts, engine_facts)),
    }


def broken_run(config: RunConfig, dataset: Dataset, reason: str) -> RunJson:
    """What `run.json` says of a run that broke before it started."""
    record = _begun(config, dataset, {})
    _end(record, "broken", reason)
    return record


def _end(record: RunJson, state: str, reason: str) -> None:
    record["state"], record["reason"] = state, reason


def _close(recording: Recording, record: RunJson, own_s: float, folder: Path, limits: Limits) -> None:
    """Leave everything on disk; on a full one, as much as goes."""
    try:
        recording.close()
    except OSError as error:
        _end(record, "broken", _failed_write(error, folder))
    record.update(cast(RunJson, summary(recording, own_s, limits)))
    for outage in record.get("outages", ()):
        outage["late_answers"] = late_by(outage, recording.cycles, recording.responses, limits)
    try:
        write_run(folder, record)
    except OSError as error:
        log.error("cannot write %s/run.json: %s", folder, error.strerror)


def _failed_write(error: OSError, folder: Path) -> str:
    return f"{error.filename or f'cannot write to {folder}'}: {error.strerror or error}"


def _last(recording: Recording) -> int | None:
    """The last second that was answered."""
    return recording.cycles[-1].seconds[-1] if recording.cycles else None


def _keep(engine: Engine, folder: Path) -> None:
    """Write the files that an engine has for its run, if it has any and still lives."""
    with contextlib.suppress(EngineFailure):
        for name, content in getattr(engine, "files", dict)().items():
            (folder / name).write_text(content)


def _discard(engine: Engine, record: RunJson) -> None:
    """Let an engine remove what it keeps for a run to go on, once the run is complete."""
    if record["state"] == "complete":
        getattr(engine, "discard", lambda: None)()


@contextmanager
def _stop_on_signal(stopping: threading.Event) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM ends the run after the cycle under way, a second one at once."""

    def stop(number: int, _: FrameType | None) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()
        log.info("stopping after this cycle; once more to stop at once")

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
