"""One run: a data set, an engine, a clock, and the folder that keeps what came of it."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from driver.dataset.folder import Dataset
from driver.dataset.integrity import check_files
from driver.dataset.relabel import dataset_facts
from driver.report.html.run import refresh_report
from driver.run.clock import Clock
from driver.run.engines import Place, open_engine
from driver.run.feed import Feed
from driver.run.live import LiveView
from driver.run.poller import LEAD_S, Cycle, Poller, run_polls
from driver.run.recording import Recording
from driver.run.result import RunConfig, config_facts, environment, late_by, summary, write_run
from driver.run.resume import Earlier, reopened
from polling_baseline import spec
from polling_baseline.batch import Batch
from polling_baseline.engine import Engine, EngineFailure
from polling_baseline.refusal import Refusal


def measure(config: RunConfig, dataset: Dataset, place: Place, folder: Path) -> dict[str, Any]:
    """Make the run that the options describe, in a new folder, and give what its `run.json` says."""
    check_files(dataset)
    engine = open_engine(config, dataset, place)
    try:
        with _refusing():
            engine.install()
            folder.mkdir(parents=True)
            facts = run(engine, dataset, config, folder)
        _keep(engine, folder)
    finally:
        engine.stop()
    refresh_report(folder)
    return facts


def go_on(folder: Path, place: Place) -> dict[str, Any]:
    """Go on with the run in this folder, which was killed or broke, and give what its `run.json` then says."""
    with _refusing(), reopened(folder, place) as earlier:
        facts = run(earlier.engine, earlier.dataset, earlier.config, folder, earlier)
    refresh_report(folder)
    return facts


def run(
    engine: Engine, dataset: Dataset, config: RunConfig, folder: Path, earlier: Earlier | None = None
) -> dict[str, Any]:
    """Feed the data set to the engine and give what `run.json` then says.

    Its `state` is `complete`, `late` (stopped at the first late answer, if so wanted), `interrupted` (Ctrl-C) or
    `broken`, with a `reason`; the folder holds what was measured in any case.  With `earlier`, the run goes on from
    there.
    """
    seconds = range((config.from_minute - 1) * spec.MINUTE_S, config.to_minute * spec.MINUTE_S)
    rest = range(earlier.next_second, seconds.stop) if earlier else seconds
    start = seconds.start - (LEAD_S if config.clock == "real" else 0)
    clock = Clock(config.clock, earlier.now() if earlier else start)
    facts = earlier.facts(clock.now()) if earlier else _facts(engine, dataset, config, clock.now())
    write_run(folder, facts)
    recording = Recording(folder, config.durability == "on", *(earlier.recorded if earlier else ()))
    feed = Feed(dataset, earlier.to_feed if earlier else seconds, engine.workers, ahead=config.clock == "real")
    view = LiveView(seconds, config.period_s)
    desk = _Desk(engine, clock, recording, view)

    def done(cycle: Cycle) -> None:
        desk.enter(cycle)
        if desk.late and config.stop_when_late:
            poller.stopping.set()

    warm_up = seconds[: config.warm_up_s]
    poller = Poller(rest, config.period_s, clock, feed.take, desk.process, done, warm_up)
    try:
        with view, _stop_on_signal(poller.stopping):
            if earlier and earlier.last:
                _complete(earlier, earlier.last, feed, poller, desk)
            run_polls(poller, clock, config.period_s)
        facts["state"] = "complete"
        if desk.late and config.stop_when_late:
            facts |= {"state": "late", "reason": f"stopped at its first late answer, in second {_last(recording)}"}
        elif poller.stopping.is_set():
            facts |= {"state": "interrupted", "reason": f"stopped by the user after second {_last(recording)}"}
        # Once more: what the run has cost is known only now.
        facts["environment"]["engine"] = engine.facts()
    except KeyboardInterrupt:
        facts |= {"state": "interrupted", "reason": "stopped by the user at once"}
        raise
    except (EngineFailure, Refusal) as failure:
        facts |= {"state": "broken", "reason": str(failure)}
    except OSError as error:
        facts |= _broken_by(error, folder)
    finally:
        feed.close()
        facts["covered"] = [seconds.start, _last(recording)]
        _close(recording, facts, desk.own_s, folder)
    return facts


class _Desk:
    """Hands batches to the engine, and its answers to the recording."""

    def __init__(self, engine: Engine, clock: Clock, recording: Recording, view: LiveView) -> None:
        self._engine, self._clock, self._recording, self._view = engine, clock, recording, view
        self.own_s, self.late = 0.0, False

    def process(self, batch: Batch) -> tuple[float, Mapping[str, float]]:
        return self.take_answers(self._engine.process(batch))

    def take_answers(self, steps: Mapping[str, float]) -> tuple[float, Mapping[str, float]]:
        """Of the batch just processed: they can be read from now on."""
        committed = self._clock.now()
        for answers in self._engine.answers():
            written = self._clock.now()
            longest_s = self._recording.answers(answers, committed)
            self.late = self.late or longest_s > spec.DEADLINE_S[answers.kind]
            self._view.answered(answers.kind, longest_s)
            self.own_s += self._clock.now() - written
        return committed, steps

    def enter(self, cycle: Cycle) -> None:
        # What makes it durable is done in idle time.
        with self._clock.paused():
            self._recording.cycle(cycle)
        self._view.cycle(cycle, self._clock.now())


def _complete(earlier: Earlier, last: range, feed: Feed, poller: Poller, desk: _Desk) -> None:
    """The last batch before the outage: what is not done of it is done, what is not on record is entered."""
    batch = feed.take(last)
    if earlier.on_record:
        earlier.engine.complete(batch)
    else:
        poller.hand_over(batch, lambda batch: desk.take_answers(earlier.engine.complete(batch)))


@contextmanager
def _refusing() -> Iterator[None]:
    """What fails before the run begins refuses it."""
    try:
        yield
    except EngineFailure as failure:
        raise Refusal(str(failure)) from None
    except OSError as error:
        raise Refusal(f"cannot write {error.filename or 'the run'}: {error.strerror or error}") from None


def _facts(engine: Engine, dataset: Dataset, config: RunConfig, now: float) -> dict[str, Any]:
    return {
        "state": "running",
        "config": config_facts(config),
        "dataset": dataset_facts(dataset),
        "environment": environment(engine.facts()),
        # When the run's clock showed 0, in seconds of Unix.
        "zero_at": round(time.time() - now, 3),
    }


def _close(recording: Recording, facts: dict[str, Any], own_s: float, folder: Path) -> None:
    """Leave everything on disk; on a full one, as much as goes."""
    try:
        recording.close()
    except OSError as error:
        facts |= _broken_by(error, folder)
    facts |= summary(recording, own_s)
    for outage in facts.get("outages", ()):
        outage["late_answers"] = late_by(outage, recording)
    try:
        write_run(folder, facts)
    except OSError as error:
        print(f"lrb: cannot write {folder}/run.json: {error.strerror}", file=sys.stderr)


def _broken_by(error: OSError, folder: Path) -> dict[str, str]:
    return {"state": "broken", "reason": f"{error.filename or f'cannot write to {folder}'}: {error.strerror or error}"}


def _last(recording: Recording) -> int | None:
    """The last second that was answered."""
    return recording.cycles[-1].seconds[-1] if recording.cycles else None


def _keep(engine: Engine, folder: Path) -> None:
    """Write the files that an engine has for its run, if it has any and still lives."""
    with contextlib.suppress(EngineFailure):
        for name, content in getattr(engine, "files", dict)().items():
            (folder / name).write_text(content)


@contextmanager
def _stop_on_signal(stopping: threading.Event) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM ends the run after the cycle under way, a second one at once."""

    def stop(number: int, _: FrameType | None) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()
        print("lrb: stopping after this cycle; once more to stop at once", file=sys.stderr)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
