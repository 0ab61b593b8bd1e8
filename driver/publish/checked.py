"""What is in a folder or a bundle, read and checked: its runs, and the rating or comparison that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median_low
from typing import Any, cast

from driver.json_record import read_json
from driver.publish import record as names
from driver.publish.consistency import cycle_faults, digest_faults, measured_faults, verdict_faults
from driver.publish.output_digest import Digest, parsed_digest
from driver.publish.record import KINDS
from driver.rating.record import RatingRecord
from driver.report.comparison import ComparisonRecord, read_comparison
from driver.run.journal import read_cycles
from driver.run.record import read_run, seconds_of
from driver.run.record_types import RunJson
from driver.run.verdict import Verdict
from driver.run.verdict import is_right as verdict_is_right
from polling_baseline import spec

REMEDY = "it was changed, or cut"
WHOLE = (1, spec.RUN_SECONDS // spec.MINUTE_S)
# What all runs of a rating have in common; a worker needs an expressway, so small L have fewer.
SHARED = ("engine", "clock", "period_s", "durability", "to_minute", "catch_up", "ignore", "slower", "limits")


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """A run, what was said of it, and each contradiction in that as a sentence."""

    folder: Path
    json: RunJson
    verdict: Verdict | None
    digest: Digest | None
    faults: list[str]

    @property
    def is_right(self) -> bool:
        """Every answer present once and right, in time or not; without contradictions."""
        return not self.faults and self.verdict is not None and verdict_is_right(self.verdict)

    @property
    def passed(self) -> bool:
        return self.is_right and self.json["state"] == "complete" and cast(Verdict, self.verdict)["verdict"] == "PASS"


@dataclass(frozen=True, slots=True)
class CheckedResult:
    """A whole result: `runs` by their place in its folder."""

    kind: str
    runs: Mapping[str, CheckedRun]
    rating: RatingRecord | None = None
    comparison: ComparisonRecord | None = None
    faults: list[str] = field(default_factory=list)

    @property
    def all_faults(self) -> list[str]:
        return [*self.faults, *(f"{place}: {fault}" for place, run in self.runs.items() for fault in run.faults)]


def check_run(folder: Path) -> CheckedRun:
    record = read_run(folder)
    path = folder / names.VERDICT
    verdict = read_json(path, Verdict, REMEDY) if path.is_file() else None
    path = folder / names.DIGEST
    digest = parsed_digest(path.read_text(encoding="ascii", errors="replace").splitlines()) if path.is_file() else None
    try:
        faults = list(_faults(folder, record, verdict, digest))
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # Types are right by now; what numbers stand there, only their writer knows.
        faults = [f"its numbers are none of a run ({type(error).__name__}: {error})"]
    return CheckedRun(folder, record, verdict, digest, faults)


def _faults(folder: Path, record: RunJson, verdict: Verdict | None, digest: Digest | None) -> Iterator[str]:
    config = record["config"]
    if not 1 <= config["from_minute"] <= config["to_minute"] <= WHOLE[1]:
        yield f"its minutes are {config['from_minute']} to {config['to_minute']}"
        return
    if record["state"] in ("complete", "late"):
        yield from measured_faults(record)
        yield from cycle_faults(record, read_cycles(folder))
    if verdict:
        yield from verdict_faults(record, verdict)
    if digest is not None:
        yield from digest_faults(record, digest)


def check_folder(folder: Path, kind: str) -> CheckedResult:
    """A run, a rating or a comparison in its folder, or as a bundle has it."""
    if kind == "run":
        places = [folder] if (folder / names.RUN).is_file() else sorted(folder.glob("runs/*"))
        runs = {path.name: check_run(path) for path in places}
        return CheckedResult(kind, runs, faults=[] if len(runs) == 1 else ["it has not exactly one run"])
    if kind == "rating":
        rating = read_json(folder / str(KINDS[kind]), RatingRecord, REMEDY)
        runs = _runs(folder, [candidate["run"] for candidate in rating["candidates"]])
        return CheckedResult(kind, runs, rating=rating, faults=list(rating_faults(rating, runs)))
    comparison = read_comparison(folder)
    runs = _runs(folder, [run for system in comparison["systems"] for run in system["runs"]])
    return CheckedResult(kind, runs, comparison=comparison, faults=list(comparison_faults(comparison, runs)))


def _runs(folder: Path, places: list[str]) -> dict[str, CheckedRun]:
    return {place: check_run(folder / place) for place in places if (folder / place / names.RUN).is_file()}


def comparison_faults(comparison: ComparisonRecord, runs: Mapping[str, CheckedRun]) -> Iterator[str]:
    for system in comparison["systems"]:
        for place, verdict in zip(system["runs"], system["verdicts"], strict=False):
            run = runs.get(place)
            if run is None:
                yield f"the run {place} is not there"
            elif verdict is not None and (run.verdict and run.verdict["verdict"]) != verdict:
                # Runs may be judged after they were compared.
                yield f"{place}: the comparison has another verdict than the run"
            elif run.json["config"]["engine"] != system["engine"] or run.json["dataset"]["xways"] != system["xways"]:
                yield f"{place}: the comparison has another engine or L than the run"


def rating_faults(rating: RatingRecord, runs: Mapping[str, CheckedRun]) -> Iterator[str]:
    """A rating is what its winner shows, and its candidates are what their runs show."""
    for candidate in rating["candidates"]:
        run = runs.get(candidate["run"])
        if run is None:
            yield f"the run {candidate['run']} is not there"
            continue
        own: Mapping[str, Any] = run.json["config"]
        if run.json["dataset"]["xways"] != candidate["xways"] or any(
            own.get(name) != rating["settings"].get(name) for name in SHARED if name in rating["settings"]
        ):
            yield f"{candidate['run']}: it is a run of other options than the rating's"
        if candidate["passed"] and any(answer["late"] for answer in run.json.get("answers", {}).values()):
            yield f"{candidate['run']}: it passed, and has late answers"
    if not rating["rating"]:
        return
    looks, passed = rating.get("ratings", []), {one["xways"] for one in rating["candidates"] if one["passed"]}
    if looks and rating["rating"] != median_low(looks):
        yield f"the rating is {rating['rating']:g}, which is not the median of its looks at the edge"
    if odd := [look for look in looks if look and look not in passed]:
        yield f"a look at the edge came to {odd[0]:g}, and no run of that L passed"
    winner = next((run for place, run in runs.items() if Path(place).name == rating["winner"]), None)
    if winner is None:
        yield "the run that the rating rests on is not there"
        return
    seconds = seconds_of(winner.json)
    minutes = [spec.minute_of(seconds.start), spec.minute_of(seconds[-1])]
    if winner.json["dataset"]["xways"] != rating["rating"]:
        yield f"the rating is {rating['rating']:g}, and its winner is a run of L = {winner.json['dataset']['xways']:g}"
    if not winner.passed:
        yield "the rating rests on a run without the verdict PASS"
    if minutes != rating["minutes"] or (rating["kind"] == "full") != (tuple(minutes) == WHOLE):
        yield f"the rating is of kind {rating['kind']}, and its winner has minutes {minutes[0]} to {minutes[1]}"
