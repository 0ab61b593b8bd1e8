"""One run: a data set, an engine, a clock, and the folder that keeps what came of it."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import cast

from driver.dataset.folder import Dataset
from driver.dataset.integrity import check_files
from driver.dataset.relabel import dataset_label
from driver.run.clock import Clock
from driver.run.config import RunConfig
from driver.run.desk import Desk
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
from polling_baseline.engine import Engine, EngineFailure
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
    `broken`, with a `reason`; the folder holds what was measured.  With `earlier`, the run goes on from there.
    """
    seconds = config.seconds
    clock, record = _start(engine, dataset, config, earlier)
    write_run(folder, record)
    recording = Recording(folder, config.profile.keeps_commits, *(earlier.recorded if earlier else ()))
    feed = Feed(dataset, earlier.to_feed if earlier else seconds, engine.workers, ahead=config.clock == "real")
    limits = limits_in_force(config.limits)
    desk = Desk(engine, clock, recording, LiveView(seconds, config.period_s, limits, folder), limits, config)

    def done(cycle: Cycle) -> None:
        desk.enter(cycle)
        if desk.late and config.stop_when_late:
            poller.stopping.set()

    rest, warm_up = range(earlier.next_second if earlier else seconds.start, seconds.stop), seconds[: config.warm_up_s]
    poller = Poller(rest, config.period_s, clock, feed.take, desk.process, done, warm_up, config.catch_up)
    try:
        with _noting_failures(record, folder):
            with desk.view, _stop_on_signal(poller.stopping):
                if earlier:
                    _complete(earlier, feed, poller, desk)
                run_polls(poller, clock, config.period_s)
                if not poller.stopping.is_set():
                    desk.finish()
            _note_end(record, folder, _last(recording), desk.late and config.stop_when_late, poller.stopping.is_set())
            # Once more: what the run has cost is known only now.
            record["environment"]["engine"] = cast(EngineFacts, engine.facts())
    finally:
        feed.close()
        desk.take_rest()
        record["covered"] = [seconds.start, _last(recording)]
        _close(recording, record, desk.own_s, folder, limits)
    return record


def _start(
    engine: Engine, dataset: Dataset, config: RunConfig, earlier: InterruptedRun | None
) -> tuple[Clock, RunJson]:
    """The run's clock, started, and its record as it is then."""
    if earlier:
        clock = Clock(config.clock, earlier.now(), slower=config.slower)
        return clock, earlier.record(clock.now())
    # Before the clock starts; the engine is installed and idle.
    others_cores = cores_used_by_others()
    clock = Clock(config.clock, config.seconds.start - (LEAD_S if config.clock == "real" else 0), slower=config.slower)
    record = _begun(config, dataset, engine.facts())
    record["zero_at"] = round(time.time() - clock.now(), 3)
    note_others(record["environment"]["machine"], others_cores)
    return clock, record


@contextmanager
def _noting_failures(record: RunJson, folder: Path) -> Iterator[None]:
    """What fails once the run has begun is a result, too."""
    try:
        yield
    except KeyboardInterrupt:
        _end(record, "interrupted", "stopped by the user at once")
        raise
    except (EngineFailure, Refusal) as failure:
        _end(record, "broken", str(failure))
    except OSError as error:
        _end(record, "broken", _failed_write(error, folder))


def _note_end(record: RunJson, folder: Path, second: int | None, late: bool, stopped: bool) -> None:
    record["state"] = "complete"
    if late:
        _end(record, "late", f"stopped at its first late answer, in second {second}")
    elif stopped:
        status = read_status(folder)
        by = "at a fault that the judge saw," if status and status["stops_run"] else "by the user"
        _end(record, "interrupted", f"stopped {by} after second {second}")


def _complete(earlier: InterruptedRun, feed: Feed, poller: Poller, desk: Desk) -> None:
    """The last batch before the outage: what is not done of it is done, what is not on record is entered."""
    if not earlier.last:
        return
    batch = feed.take(earlier.last)
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
