"""One run: a data set, an engine, a clock, and the folder that keeps what came of it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from driver.clock import Clock
from driver.dataset import Dataset
from driver.engines import Place, open_engine
from driver.feed import Feed
from driver.live import LiveView
from driver.recording import Recording
from driver.relabel import dataset_facts
from driver.replay import LEAD_S, Poller, run_polls
from driver.result import RunConfig, config_facts, environment, summary, write_run
from polling_baseline import spec
from polling_baseline.batch import Batch
from polling_baseline.engine import Engine, EngineFailure


def measure(config: RunConfig, dataset: Dataset, place: Place, folder: Path) -> dict[str, Any]:
    """Make the run that the options describe, in a new folder, and give what its `run.json` says."""
    engine = open_engine(config, dataset, place)
    try:
        engine.install()
        folder.mkdir(parents=True)
        return run(engine, dataset, config, folder)
    finally:
        engine.stop()


def run(engine: Engine, dataset: Dataset, config: RunConfig, folder: Path) -> dict[str, Any]:
    """Feed the data set to the engine and give what `run.json` then says.

    Its `state` is `complete`, `late` (stopped at the first late answer, if so wanted), `interrupted` (Ctrl-C) or
    `broken`, with a `reason`; the folder holds what was measured in any case.
    """
    seconds = range((config.from_minute - 1) * spec.MINUTE_S, config.to_minute * spec.MINUTE_S)
    facts: dict[str, Any] = {
        "state": "running",
        "config": config_facts(config),
        "dataset": dataset_facts(dataset),
        "environment": environment(engine.facts()),
    }
    write_run(folder, facts)
    recording = Recording(folder)
    feed = Feed(dataset, seconds, engine.workers)
    view = LiveView(seconds, config.period_s)
    clock = Clock(config.clock, seconds.start - (LEAD_S if config.clock == "real" else 0))
    own_s, late = 0.0, False

    def handle(batch: Batch) -> tuple[float, Mapping[str, float]]:
        nonlocal own_s, late
        steps = engine.process(batch)
        committed = clock.now()
        for answers in engine.answers():
            written = clock.now()
            longest_s = recording.answers(answers, committed)
            late = late or longest_s > spec.DEADLINE_S[answers.kind]
            view.answered(answers.kind, longest_s)
            own_s += clock.now() - written
        return committed, steps

    def done(cycle: Any) -> None:
        recording.cycle(cycle)
        view.cycle(cycle, clock.now())
        if late and config.stop_when_late:
            poller.stopping.set()

    poller = Poller(seconds, config.period_s, clock, feed.take, handle, done)
    facts["state"] = "complete"
    try:
        with view, _stop_on_signal(poller.stopping):
            run_polls(poller, clock, config.period_s)
        if late and config.stop_when_late:
            facts |= {"state": "late", "reason": f"stopped at its first late answer, in second {_last(recording)}"}
        elif poller.stopping.is_set():
            facts |= {"state": "interrupted", "reason": f"stopped by the user after second {_last(recording)}"}
    except EngineFailure as failure:
        facts |= {"state": "broken", "reason": str(failure)}
    finally:
        feed.close()
        recording.close()
        facts |= {"covered": [seconds.start, _last(recording)], **summary(recording, own_s)}
        write_run(folder, facts)
    return facts


def _last(recording: Recording) -> int | None:
    """The last second that was answered."""
    return recording.cycles[-1].seconds[-1] if recording.cycles else None


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
