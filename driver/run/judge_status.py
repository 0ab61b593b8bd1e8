"""`judge.json`: what the judge beside a run has to say so far."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TypedDict

from driver.json_record import read_json, write_json
from polling_baseline.refusal import Refusal
from polling_baseline.wording import format_count

FORMAT = 1
NAME = "judge.json"


class JudgeStatus(TypedDict):
    format: int
    # The minutes that were judged, the first and the last; the last is lower than the first if there is none yet.
    minutes: list[int]
    # How many of each kind; an answer is missing when its time is over.
    faults: dict[str, int]
    # Answers of minutes that are not complete: what the judge has to remember.
    open_answers: int
    # How far the run was when this was written, in seconds of its clock, and what the judge took so far.
    second: float
    cpu_s: float
    # Whether the run is to be stopped: it was asked for, and there is a fault.
    stops_run: bool


def write_status(folder: Path, status: JudgeStatus) -> None:
    write_json(folder / NAME, status)


def read_status(folder: Path) -> JudgeStatus | None:
    """Nothing where no judge is at work."""
    with suppress(OSError, Refusal):
        return read_json(folder / NAME, JudgeStatus, "judge it again")
    return None


def count_faults(status: JudgeStatus) -> int:
    return sum(status["faults"].values())


def describe_status(status: JudgeStatus) -> str:
    """For a line on a terminal."""
    first, last = status["minutes"]
    if last < first:
        return "waits for the first minute"
    faults = [f"{count:,} {fault}" for fault, count in status["faults"].items() if count]
    minutes = format_count(last - first + 1, "minute")
    return f"{minutes} judged: {', '.join(faults) or 'all right'}"
