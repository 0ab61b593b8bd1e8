"""`rating.json`, `reproduction.json` and `anatomy.json`: what came of a search, the paper's experiments, or a ladder.

All are written when their folder is begun, with the settings alone: one folder, one result.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from driver.json_record import read_json, write_json
from driver.run.record_types import Environment
from polling_baseline.refusal import Refusal

FORMAT = 1
RATING, REPRODUCTION, ANATOMY = "rating.json", "reproduction.json", "anatomy.json"


class Claim(TypedDict):
    """What every result begins with: all that its runs have in common, by the options' names."""

    format: int
    settings: dict[str, Any]


class FailureCause(TypedDict, total=False):
    """Why a run broke; or when it was first late, and which step had most of the time in the minute before."""

    reason: str
    second: int
    minute: int
    step: str
    share: float


class _CandidateRecord(TypedDict):
    """One L that was tried."""

    xways: float
    # The run's folder, seen from the rating's.
    run: str
    # The first and the last.
    minutes: list[int]
    in_time: bool
    state: str
    max_response_s: float | None
    # Per second of the engine's own time, and in the busiest second of the input.
    tuples_per_s: float
    peak_tuples_per_s: int
    took_s: float
    # What the reference said; null if it was not asked.
    right: bool | None
    # `in time`, `late`, `wrong` or `broken`.
    verdict: str
    passed: bool


class CandidateRecord(_CandidateRecord, total=False):
    # What other programs kept busy when it began; null if the system does not tell.
    others_cores: float | None
    # 1 for the search; what is more looked at its edge again.
    repetition: int


class _RatingRecord(Claim):
    rating: float
    # `full`, `peak`, or `part` of the three hours.
    kind: str
    engine: str
    minutes: list[int]
    distinct: int
    seed: int | None
    clock: str
    step: float
    max: float
    # The folders of the largest run that passed, and of the failure next to it.
    winner: str | None
    loser: str | None
    gave_out: FailureCause | None
    candidates: list[CandidateRecord]
    environment: Environment | None


class RatingRecord(_RatingRecord, total=False):
    # What the search came to, and each look at its edge; `rating` is their median.
    ratings: list[float]


class PublishedRecord(TypedDict):
    """What the paper says of a system; response times by scale factor."""

    rating: float
    fails_at: float
    max_response_s: dict[str, float]
    first_late_second: int
    input_per_s: int
    output_per_s: int


class MeasuredRecord(TypedDict):
    """One run of a variant on this machine."""

    # Seen from the reproduction's folder.
    run: str
    max_response_s: float | None
    first_late_second: int | None
    # PASS or FAIL; null if it was not judged.
    verdict: str | None
    tuples_per_s: int
    input_per_s: float
    output_per_s: float


class CurveRecord(TypedDict):
    """What a cycle takes: so much, and so much for each tuple, for the square of their number, and for a tuple and
    expressway."""

    fixed_ms: float
    tuple_us: float
    square_ns: float
    tuple_xway_us: float


class SlowerRecord(TypedDict):
    """A variant on a machine slower by `factor`, which was fitted to one response time of the paper."""

    factor: float
    fitted_to_s: float
    # Whether the factor gives that response time, or had to stop short of it.
    hits: bool
    rating: float
    # Nothing failed, so the rating may be more.
    at_least: bool
    # With 3 s instead of 5.
    stricter_rating: float
    # With the limit of the record.
    rating_by_limits: float
    max_response_s: dict[str, float]
    first_late_second: int | None
    # What a cycle of any run takes here, by its tuples; and one that begins with a minute.
    cycle: CurveRecord
    minute: CurveRecord
    # The scale factors that were not run.
    predicted: list[str]
    # How many times each figure of the paper is missed, and the mean of that.
    errors: dict[str, float]
    mean_error: float
    # At the scale factor that failed first in 2004; and what a run with `--slower` shows there.
    longest_by_minute_s: list[float]
    confirmed: MeasuredRecord | None


class VariantRecord(TypedDict):
    """One way to build a system of the paper with this kit."""

    name: str
    system: str
    engine: str
    options: dict[str, str]
    # By scale factor.
    runs: dict[str, MeasuredRecord]
    slower: SlowerRecord


class VolumeRecord(TypedDict):
    paper: int
    here: int | None


class ReproductionRecord(Claim):
    minutes: list[int]
    distinct: int
    seed: int | None
    clock: str
    scale_factors: list[float]
    # By `--limits`, those that differ from the specification's; and the shortest of all, which decides.
    limits: dict[str, float]
    limit_s: float
    systems: dict[str, PublishedRecord]
    variants: list[VariantRecord]
    # Of one expressway, by what is counted.
    volumes: dict[str, VolumeRecord]
    environment: Environment


class LoadRecord(TypedDict):
    """A rung at one load: the medians of its readings, and of cycles that neither warm up nor close a minute."""

    tuples: float
    cycle_ms: float
    readings_ms: list[float]
    # All of a cycle, by its tuples.
    tuple_us: float
    toll_p50_s: float
    toll_max_s: float
    # The folders, seen from the anatomy's.
    runs: list[str]
    # Whether the reference found all answers of all readings right, late or not.
    right: bool


class RungRecord(TypedDict):
    """One system of the ladder, and what it changes about the one before it."""

    name: str
    change: str
    engine: str
    options: dict[str, str]
    code_lines: int
    # What each tuple adds to a cycle, and what a cycle takes without any.
    tuple_us: float
    fixed_ms: float
    # By scale factor.
    loads: dict[str, LoadRecord]


class AnatomyRecord(Claim):
    minutes: list[int]
    distinct: int
    seed: int | None
    rungs: list[RungRecord]
    environment: Environment


def claim(file: Path, settings: Mapping[str, Any]) -> None:
    """Begin a result; runs of another data set, engine or part have no place in its folder."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_json(file, {"format": FORMAT, "settings": settings})
        return
    before = read_json(file, Claim, "choose another --out")["settings"]
    # A folder of an earlier version lacks an option that it did not know; what is empty now was absent then.
    if other := sorted(name for name, value in settings.items() if (value or None) != (before.get(name) or None)):
        raise Refusal(f"{file.parent} was made with another {', '.join(other)}; choose another --out")
