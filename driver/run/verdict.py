"""`verdict.json`: what the judge says of an output file."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Literal, TypedDict

from driver.dataset.relabel import DatasetLabel
from driver.json_record import read_json, write_json
from driver.run.limits import limits_in_force
from polling_baseline.refusal import Refusal

FORMAT = 1
NAME = "verdict.json"
Fault = Literal["missing", "extra", "duplicate", "wrong", "late", "early"]
FAULTS: tuple[Fault, ...] = ("missing", "extra", "duplicate", "wrong", "late", "early")
# What the right answers do not allow, whenever they come.
WRONG: tuple[Fault, ...] = ("missing", "extra", "duplicate", "wrong", "early")

OptionalTimes = TypedDict(
    "OptionalTimes",
    {
        "p50": "float | None",
        "p90": "float | None",
        "p99": "float | None",
        "p99.9": "float | None",
        "max": "float | None",
    },
)


class AnswerVerdict(OptionalTimes):
    """One kind of answer: how many, how many faults of each kind, and the response times in seconds."""

    expected: int
    received: int
    missing: int
    extra: int
    duplicate: int
    wrong: int
    late: int
    early: int
    # Right by a lenient reading only.
    lenient: int


class LineCounts(TypedDict):
    """The lines of the output file; `examples` has the number and the text of odd ones."""

    total: int
    blank: int
    unknown_type: int
    malformed: int
    extra_fields: int
    examples: list[list[object]]


class _Verdict(TypedDict):
    format: int
    # PASS or FAIL
    verdict: str
    dataset: DatasetLabel
    # The first and the last.
    minutes: list[int]
    # The expressways that were judged, or `all`.
    xways: str | list[int]
    lenient: bool
    # When accidents end by the reading that fits best: `specification`, or `a minute earlier`.
    accidents_end: str
    answers: dict[str, AnswerVerdict]
    lines: LineCounts


class Verdict(_Verdict, total=False):
    # The response times that were allowed, in seconds; those of the specification where there is no such key.
    limits: dict[str, float]
    # Whose rules it was judged by, if not the paper's; and all readings that accept the output, if they were tried.
    reading: str
    accepted_by: list[str]


def read_verdict(folder: Path) -> Verdict | None:
    """The verdict on the run in a folder, if it was judged."""
    with suppress(OSError, Refusal):
        return read_json(folder / NAME, Verdict, "judge it again")
    return None


def write_verdict(path: Path, verdict: Verdict) -> None:
    try:
        write_json(path, verdict)
    except OSError as error:
        raise Refusal(f"cannot write {path}: {error.strerror}; name another file with --verdict") from None


def limits_of(verdict: Verdict) -> dict[str, float]:
    """What the judge allowed each kind of answer."""
    return limits_in_force(verdict.get("limits", {}))


def expected_in(verdict: Verdict) -> int:
    return sum(counts["expected"] for counts in verdict["answers"].values())


def faults_in(verdict: Verdict, faults: tuple[Fault, ...] = FAULTS) -> dict[str, int]:
    """How many of each kind of fault, over all kinds of answers."""
    return {fault: sum(counts[fault] for counts in verdict["answers"].values()) for fault in faults}


def is_right(verdict: Verdict) -> bool:
    """Whether all answers are right, in time or not."""
    return not any(faults_in(verdict, WRONG).values()) and not verdict["lines"]["malformed"]
