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
from typing import Any

from driver.dataset.folder import Dataset
from driver.dataset.relabel import dataset_of
from driver.run.earlier_server import check_state, same_place
from driver.run.engines import ON_POSTGRESQL, Place, open_engine
from driver.run.journal import NAME, Journal, read_journal
from driver.run.poller import Cycle
from driver.run.recording import Responses, read_responses
from driver.run.result import RunConfig, read_run
from polling_baseline import spec
from polling_baseline.engine import Resumable
from polling_baseline.refusal import Refusal
from polling_baseline.wording import command_line

# What `summary` adds to `run.json`: it is worked out again when the run has ended.
MEASURED = ("answers", "minutes", "cycles", "feed", "reason", "verdict")


@dataclass(frozen=True, slots=True)
class Earlier:
    """What there is of a run that goes on."""

    engine: Resumable
    config: RunConfig
    dataset: Dataset
    # Its `run.json`, its complete cycles, and the response times of their answers.
    said: Mapping[str, Any]
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
        return range(self.last.start if self.last else self._first_second, self.config.to_minute * spec.MINUTE_S)

    @property
    def ended(self) -> float:
        """The last sign of life, on the run's clock; a batch is not begun before its seconds have come."""
        on_record = self.journal.cycles[-1].ended if self.journal.cycles else float(self._first_second)
        return max(on_record, self.last[-1]) if self.last else on_record

    @property
    def _first_second(self) -> int:
        return (self.config.from_minute - 1) * spec.MINUTE_S

    def now(self) -> float:
        """What the run's clock shows."""
        if self.config.clock == "real":
            return time.time() - float(self.said["zero_at"])
        return self.ended + time.perf_counter() - self.resumed_at

    def facts(self, now: float) -> dict[str, Any]:
        """`run.json` while the run goes on, with the outage in it."""
        outage = {
            "from": round(self.ended, 3),
            "until": round(now, 3),
            "seconds": round(now - self.ended, 3),
            "reason": self.said.get("reason", "the driver was killed"),
            "resumed": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        }
        rest = {name: value for name, value in self.said.items() if name not in (*MEASURED, "format")}
        return {**rest, "state": "running", "outages": [*self.said.get("outages", ()), outage]}


@contextmanager
def reopened(folder: Path, place: Place) -> Iterator[Earlier]:
    """The run in `folder`, ready to go on; refuses where its state is gone."""
    resumed_at = time.perf_counter()
    said = read_run(folder)
    config = _config(said, folder)
    place = same_place(place, folder, said)
    if config.engine in ON_POSTGRESQL:
        check_state(place, folder, said["environment"]["engine"])
    if not Path(config.dataset).exists():
        raise Refusal(f"{config.dataset}, the data set of {folder}, is no longer there; put it back to go on")
    dataset = dataset_of(config)
    if dataset.identity != said["dataset"]["identity"]:
        raise Refusal(f"{dataset.path} has changed since {folder} was begun; start again with {_again(folder)}")
    engine = open_engine(config, dataset, place)
    try:
        if not isinstance(engine, Resumable):
            raise _gone(folder, f"the engine {config.engine} keeps its state in memory")
        last = engine.resume(said["environment"]["engine"])
        journal = read_journal(folder, last.stop if last else 0)
        refuse_gap(journal, last, (config.from_minute - 1) * spec.MINUTE_S, folder)
        yield Earlier(engine, config, dataset, said, journal, cut_back(folder, journal), last, resumed_at)
    finally:
        engine.stop()


def _config(said: dict[str, Any], folder: Path) -> RunConfig:
    try:
        config, state = RunConfig(**said["config"]), said["state"]
    except (KeyError, TypeError):
        raise Refusal(f"{folder}/run.json is damaged; run it again") from None
    if state == "complete":
        raise Refusal(f"{folder} is complete: there is nothing to resume; the same run again is {_again(folder)}")
    if config.durability != "on":
        raise _gone(folder, "with durability off nothing is logged, and a crash empties the tables")
    return config


def _gone(folder: Path, why: str) -> Refusal:
    return Refusal(f"the state of {folder} is gone: {why}; start again with {_again(folder)}")


def _again(folder: Path) -> str:
    return command_line("run", "--like", folder)


def refuse_gap(journal: Journal, last: range | None, first_second: int, folder: Path) -> None:
    """The engine has the answers of its last cycle only; those of earlier ones must be in the files."""
    have = journal.next_second or first_second
    if last is not None and have not in (last.start, last.stop):
        raise Refusal(
            f"{folder}/output.csv lacks the answers of seconds {have} to {last.start - 1}, which are nowhere else; "
            f"start again with {_again(folder)}"
        )


def cut_back(folder: Path, journal: Journal) -> dict[str, Responses]:
    """Cut both files to what is complete, and give the response times of the answers in it."""
    for name, size in ((NAME, journal.journal_bytes), ("output.csv", journal.output_bytes)):
        with (folder / name).open("ab") as file:
            file.truncate(size)
    return read_responses(folder / "output.csv") if journal.output_bytes else {}
