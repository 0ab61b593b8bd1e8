"""A run read back from its folder: what `run.json`, `verdict.json` and `cycles.csv` say of it.

Reports, pages and comparisons are made from this alone; nothing here asks a database or Spark.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from driver.json_record import read_json, write_json
from driver.run.config import OPTIONS, RunConfig
from driver.run.journal import CycleColumns, columns_of, read_cycles
from driver.run.limits import limits_in_force
from driver.run.record_types import AnswerSummary, MinuteTimes, RunJson
from driver.run.verdict import Verdict, faults_in, limits_of, read_verdict
from polling_baseline import spec
from polling_baseline.refusal import Refusal

FORMAT = 1
NAME = "run.json"
REMEDY = "run it again"


def write_run(folder: Path, record: Mapping[str, Any]) -> None:
    """Replace `run.json`; it is on the disk then, and so are the names of the other files."""
    write_json(folder / NAME, {**record, "format": FORMAT}, durable=True)


def read_run(folder: Path) -> RunJson:
    path = folder / NAME
    try:
        record = read_json(path, RunJson, REMEDY)
    except (FileNotFoundError, NotADirectoryError):
        if runs := sorted(child.name for child in folder.glob("*") if (child / NAME).is_file()):
            raise Refusal(f"{folder} is not a run, but has some; name one, such as {folder / runs[0]}") from None
        raise Refusal(f"{folder} is not a run; make one with lrb run") from None
    except PermissionError:
        raise Refusal(f"no permission to read {folder}") from None
    if record["format"] != FORMAT:
        raise Refusal(f"{folder} has format {record['format']}, this lrb reads {FORMAT}; use the lrb that made it")
    if unknown := set(record["config"]) - set(OPTIONS):
        raise Refusal(f"{path} is damaged: no run has the option {min(unknown)}; {REMEDY}")
    return record


@dataclass(frozen=True)
class RunRecord:
    """What is known of a run; `json` has all keys of a complete run, empty where nothing was measured."""

    folder: Path
    json: RunJson
    verdict: Verdict | None

    @property
    def config(self) -> RunConfig:
        return config_of(self.json)

    @property
    def minutes(self) -> tuple[int, int]:
        return self.json["config"]["from_minute"], self.json["config"]["to_minute"]

    @property
    def kinds(self) -> list[str]:
        """The kinds of answers that came or should have."""
        return [
            kind
            for kind in spec.ANSWERS
            if self.json["answers"][kind]["received"] or (self.verdict and self.verdict["answers"][kind]["expected"])
        ]

    def minutes_with(self, kind: str) -> list[tuple[int, MinuteTimes]]:
        """The minutes in which answers of a kind came, with their response times."""
        rows: list[Any] = list(self.json["minutes"])
        return [(row["minute"], row[kind]) for row in rows if kind in row]

    @property
    def limits(self) -> dict[str, float]:
        """The limits in force: what is late is late by these."""
        return {kind: answer["limit_s"] for kind, answer in self.json["answers"].items()}

    @property
    def late(self) -> int:
        """How many answers came late."""
        return sum(answer["late"] for answer in self.json["answers"].values())

    def faults(self) -> dict[str, int] | None:
        """All faults by kind of fault, if the run was judged."""
        return faults_in(self.verdict) if self.verdict else None

    @cached_property
    def cycles(self) -> CycleColumns | None:
        """Nothing where no cycle was completed."""
        cycles = read_cycles(self.folder)
        return columns_of(cycles) if cycles else None


def config_of(record: RunJson) -> RunConfig:
    return RunConfig(**record["config"])


def seconds_of(record: RunJson) -> range:
    """The seconds that a run has to answer for: all of its minutes, or those until it was stopped for being late."""
    seconds = config_of(record).seconds
    last = record.get("covered", [None, None])[1]
    return range(seconds.start, last + 1) if record["state"] == "late" and last is not None else seconds


def open_run(folder: Path) -> RunRecord:
    """What is known of a run, whether it ended well, badly or not at all."""
    return run_record(read_run(folder), folder)


def run_record(record: RunJson, folder: Path) -> RunRecord:
    """What is known of the run in this folder, whose `run.json` says `record`."""
    limits = limits_in_force(record["config"].get("limits", {}))
    nothing: dict[str, AnswerSummary] = {
        kind: {"received": 0, "late": 0, "limit_s": limits[kind]} for kind in spec.ANSWERS
    }
    measured = {"answers": nothing, "minutes": [], "cycles": {"count": 0}, "feed": {"rows": 0}}
    whole = typing.cast(RunJson, {**measured, **record})
    if whole["state"] == "running":
        whole["reason"] = "it was killed, or is still under way"
    verdict = read_verdict(folder)
    # A verdict on other data says nothing of this run.
    is_on_it = verdict is not None and verdict["dataset"]["identity"] == record["dataset"]["identity"]
    if verdict is None or not is_on_it:
        return RunRecord(folder, whole, None)
    return RunRecord(folder, _as_judged(whole, verdict), verdict)


def _as_judged(record: RunJson, verdict: Verdict) -> RunJson:
    """With the judge's limits, if they are others than those of the run, and with what is late by them."""
    limits = limits_of(verdict)
    if all(answer["limit_s"] == limits[kind] for kind, answer in record["answers"].items()):
        return record
    answers: dict[str, Any] = {
        kind: {**answer, "late": verdict["answers"][kind]["late"], "limit_s": limits[kind]}
        for kind, answer in record["answers"].items()
    }
    return typing.cast(RunJson, {**record, "answers": answers})
