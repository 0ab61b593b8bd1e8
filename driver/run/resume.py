"""A run that was killed goes on: its state is in the database, its answers are in its folder.

On the run's clock the outage counts.  On the real clock it lasts as long as it lasted.  The virtual clock stands still
while nobody works: there it lasts as long as it took to be ready again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import cast

from driver.dataset.folder import Dataset
from driver.run.config import RunConfig
from driver.run.earlier_server import check_state, same_backends
from driver.run.engines import ON_POSTGRESQL, Backends, open_engine
from driver.run.journal import NAME, OUTPUT, Journal, read_journal
from driver.run.judge_status import NAME as JUDGE_STATUS
from driver.run.poller import Cycle
from driver.run.record import config_of, read_run
from driver.run.record_types import Outage, RunJson
from driver.run.recording import Responses, read_responses
from polling_baseline.engine import Resumable
from polling_baseline.refusal import Refusal
from polling_baseline.wording import format_command

# What `summary` adds to `run.json`: it is worked out again when the run has ended.
MEASURED = ("answers", "minutes", "cycles", "feed", "reason", "verdict")


@dataclass(frozen=True, slots=True)
class InterruptedRun:
    """What there is of a run that goes on."""

    engine: Resumable
    config: RunConfig
    dataset: Dataset
    # Its `run.json`, its complete cycles, and the response times of their answers.
    before: RunJson
    journal: Journal
    responses: Mapping[str, Responses]
    # The last batch that was committed; the engine has its answers still.
    last: range | None
    # On the machine's clock for durations.
    resumed_at: float

    @property
    def recorded(self) -> tuple[list[Cycle], Mapping[str, Responses]]:
        return self.journal.cycles, self.responses

    @property
    def on_record(self) -> bool:
        """The last batch's answers are in the folder."""
        return self.last is not None and self.journal.next_second == self.last.stop

    @property
    def next_second(self) -> int:
        """The first one that is not on record."""
        return self.journal.next_second or self._first_second

    @property
    def to_feed(self) -> range:
        """From the last batch on."""
        return range(self.last.start if self.last else self._first_second, self.config.seconds.stop)

    @property
    def ended(self) -> float:
        """The last sign of life, on the run's clock; a batch is not begun before its seconds have come."""
        on_record = self.journal.cycles[-1].ended if self.journal.cycles else float(self._first_second)
        return max(on_record, self.last[-1]) if self.last else on_record

    @property
    def _first_second(self) -> int:
        return self.config.seconds.start

    def now(self) -> float:
        """What the run's clock shows."""
        if self.config.clock == "real":
            return time.time() - float(self.before["zero_at"])
        return self.ended + time.perf_counter() - self.resumed_at

    def record(self, now: float) -> RunJson:
        """`run.json` while the run goes on, with the outage in it."""
        outage: Outage = {
            "from": round(self.ended, 3),
            "until": round(now, 3),
            "seconds": round(now - self.ended, 3),
            "reason": self.before.get("reason", "the driver was killed"),
            "resumed": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        }
        rest = {name: value for name, value in self.before.items() if name not in MEASURED}
        outages = [*self.before.get("outages", ()), outage]
        return cast(RunJson, {**rest, "state": "running", "outages": outages})


@contextmanager
def reopened(folder: Path, backends: Backends) -> Iterator[InterruptedRun]:
    """The run in `folder`, ready to go on; refuses where its state is gone."""
    resumed_at = time.perf_counter()
    before = read_run(folder)
    config = _config(before, folder)
    backends = same_backends(backends, folder, before)
    if config.engine in ON_POSTGRESQL:
        check_state(backends, folder, config.profile, before["environment"]["engine"])
    if not Path(config.dataset).exists():
        raise Refusal(f"{config.dataset}, the data set of {folder}, is no longer there; put it back to go on")
    dataset = config.open_dataset()
    if dataset.identity != before["dataset"]["identity"]:
        raise Refusal(f"{dataset.path} has changed since {folder} was begun; start again with {_again(folder)}")
    engine = open_engine(config, dataset, backends)
    try:
        if not isinstance(engine, Resumable):
            raise _gone(folder, f"the engine {config.engine} keeps its state in memory")
        last = engine.resume(before["environment"]["engine"])
        journal = read_journal(folder, last.stop if last else 0)
        refuse_gap(journal, last, config.seconds.start, folder)
        yield InterruptedRun(engine, config, dataset, before, journal, cut_back(folder, journal), last, resumed_at)
    finally:
        engine.stop()


def _config(before: RunJson, folder: Path) -> RunConfig:
    config = config_of(before)
    if before["state"] == "complete":
        raise Refusal(f"{folder} is complete: there is nothing to resume; the same run again is {_again(folder)}")
    if not config.profile.keeps_commits:
        raise _gone(folder, f"with durability {config.durability} nothing is logged, and a crash empties the tables")
    return config


def _gone(folder: Path, why: str) -> Refusal:
    return Refusal(f"the state of {folder} is gone: {why}; start again with {_again(folder)}")


def _again(folder: Path) -> str:
    return format_command("run", "--like", folder)


def refuse_gap(journal: Journal, last: range | None, first_second: int, folder: Path) -> None:
    """The engine has the answers of its last cycle only; those of earlier ones must be in the files."""
    have = journal.next_second or first_second
    if last is not None and have not in (last.start, last.stop):
        raise Refusal(
            f"{folder}/output.csv lacks the answers of seconds {have} to {last.start - 1}, which are nowhere else; "
            f"start again with {_again(folder)}"
        )


def cut_back(folder: Path, journal: Journal) -> dict[str, Responses]:
    """Cut both files to what is complete, and give the response times of the answers in it.

    What a judge has said so far is forgotten: there may be none any more.
    """
    (folder / JUDGE_STATUS).unlink(missing_ok=True)
    for name, size in ((NAME, journal.journal_bytes), (OUTPUT, journal.output_bytes)):
        with (folder / name).open("ab") as file:
            file.truncate(size)
    return read_responses(folder / OUTPUT) if journal.output_bytes else {}
