"""The results in folders and bundles that may stand on a board, and why the others may not.

What enters is judged, right, in time by the specification's limits, and free of contradictions.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from driver.publish import record as names
from driver.publish.archive import unpacked
from driver.publish.checked import CheckedResult, CheckedRun, check_folder
from driver.publish.record import KINDS
from driver.run.limits import describe_limits, limits_in_force
from driver.run.machine import BUSY_CORES
from driver.run.record import config_of
from driver.run.record_types import Machine, RunJson
from polling_baseline import spec
from polling_baseline.database.designs import DEFAULT_DESIGN
from polling_baseline.refusal import Refusal

LAST_MINUTE = spec.RUN_SECONDS // spec.MINUTE_S
PEAK_MINUTES = 20
WHOLE, PEAK, PART = "whole", "peak", "part"


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the board: a system that held L expressways on a machine."""

    xways: float
    label: str
    engine: str
    design: str
    durability: str
    clock: str
    # whole, peak or part of the three hours
    span: str
    minutes: tuple[int, int]
    distinct: int
    # Whether more expressways were tried and failed.
    is_rating: bool
    # What several looks at the edge came to, if there were several.
    ratings: tuple[float, ...]
    # Of how many runs under these conditions all passed; a rating rests on one.
    runs: int
    # Which requests were left out.
    judged: str
    machine: str
    cores: int
    others_busy: bool
    started: str
    commit: str
    source: str

    @property
    def xways_per_core(self) -> float:
        return self.xways / self.cores

    @property
    def conditions(self) -> tuple[object, ...]:
        """Of those that have all of them in common, the best is shown."""
        return self.label, self.durability, self.clock, self.minutes, self.distinct, self.judged, self.machine


@dataclass(frozen=True, slots=True)
class Exclusion:
    source: str
    why: str


def results_in(folders: Sequence[Path]) -> tuple[list[Result], list[Exclusion]]:
    """The best results below these folders, the largest L first, and what was left out, with the reason.

    A bundle may be named itself.
    """
    results: list[Result] = []
    left: list[Exclusion] = []
    for path in _places(folders):
        source = _source(path, folders)
        try:
            checked = _read(path)
            new = list(_results(checked, source))
            results += new
            if not new:
                left.append(Exclusion(source, _why(checked)))
        except Refusal as refusal:
            left.append(Exclusion(source, str(refusal).replace(str(path), source)))
    best: dict[tuple[object, ...], Result] = {}
    for one in sorted(results, key=_rank):
        best.setdefault(one.conditions, one)
    return list(best.values()), left


def _rank(one: Result) -> tuple[object, ...]:
    """The largest L comes first, then what is known best."""
    return -one.xways, not one.is_rating, -one.runs, one.label, one.started, one.source


def _places(folders: Sequence[Path]) -> Iterator[Path]:
    """Bundles, and folders of ratings and runs; the runs of a rating or comparison do not stand for themselves."""
    for folder in folders:
        if folder.is_file():
            yield folder
            continue
        if not folder.is_dir():
            raise Refusal(f"{folder} is neither a folder nor a bundle; name one with results")
        for place, children, files in os.walk(folder):
            current = Path(place)
            children.sort()
            yield from (current / name for name in sorted(files) if name.endswith(".zip"))
            if any(name in files for name in (names.RUN, *filter(None, KINDS.values()))):
                yield current
                children.clear()


def _source(path: Path, folders: Sequence[Path]) -> str:
    """Where it was found, without folders of this machine."""
    for folder in folders:
        if path != folder and folder in path.parents:
            return path.relative_to(folder).as_posix()
    return path.resolve().name


def _read(path: Path) -> CheckedResult:
    if path.is_file():
        with unpacked(path) as (folder, manifest):
            return check_folder(folder, manifest["kind"])
    kind = next(kind for kind, file in KINDS.items() if (path / (file or names.RUN)).is_file())
    return check_folder(path, kind)


def _results(checked: CheckedResult, source: str) -> Iterator[Result]:
    if checked.faults:
        return
    if checked.rating:
        rating = checked.rating
        winner = next((run for place, run in checked.runs.items() if Path(place).name == rating["winner"]), None)
        if winner and not _objection(winner):
            yield _result(winner, source, True, tuple(rating.get("ratings", ())), 1)
        return
    # Who failed once in several runs of one kind does not hold that L.
    systems = checked.comparison["systems"] if checked.comparison else []
    for places in [system["runs"] for system in systems] or [list(checked.runs)]:
        runs = [checked.runs[place] for place in places]
        if runs and not any(map(_objection, runs)):
            name = source if not systems else f"{source}: {Path(places[0]).name}"
            yield _result(runs[0], name, False, (), len(runs))


def _objection(run: CheckedRun) -> str | None:
    """Why a run may not stand on a board."""
    if run.faults:
        return f"contradicts itself: {run.faults[0]}"
    if run.verdict is None:
        return "not judged"
    if run.verdict["verdict"] != "PASS":
        return "the verdict is FAIL"
    if run.verdict["lenient"] or run.verdict["xways"] != "all":
        return "judged leniently, or on some expressways only"
    if run.json["state"] != "complete":
        return f"the run is {run.json['state']}"
    config = config_of(run.json)
    if others := describe_limits(limits_in_force(config.limits)):
        return others
    return f"{config.slower:g} times slower" if config.slower != 1 else None


def _why(checked: CheckedResult) -> str:
    if checked.faults:
        return f"contradicts itself: {checked.faults[0]}"
    if checked.rating:
        rating = checked.rating
        winner = next((run for place, run in checked.runs.items() if Path(place).name == rating["winner"]), None)
        return (winner and _objection(winner)) or "nothing passed"
    objections = [objection for run in checked.runs.values() if (objection := _objection(run))]
    return objections[0] if objections else "it has no run"


def _result(run: CheckedRun, source: str, is_rating: bool, ratings: tuple[float, ...], runs: int) -> Result:
    record, config = run.json, config_of(run.json)
    machine, dataset = record["environment"]["machine"], record["dataset"]
    first, last = config.from_minute, config.to_minute
    left_out = " and ".join(kind.replace("_", " ") for kind in config.ignore)
    return Result(
        xways=dataset["xways"],
        label=config.label,
        engine=config.engine,
        design=_design(record),
        durability=config.durability,
        clock=config.clock,
        span=_span(first, last),
        minutes=(first, last),
        distinct=dataset.get("distinct", int(dataset["xways"] + 0.5)),
        is_rating=is_rating,
        ratings=ratings,
        runs=runs,
        judged=f"without {left_out}" if left_out else "all kinds of answers",
        machine=_machine_label(machine),
        cores=max(1, machine["cores"]),
        others_busy=machine.get("others_cores", 0.0) >= BUSY_CORES,
        started=record["environment"]["started"][:10],
        commit=record["environment"]["commit"] or "unknown",
        source=source,
    )


def _span(first: int, last: int) -> str:
    if (first, last) == (1, LAST_MINUTE):
        return WHOLE
    return PEAK if (first, last) == (LAST_MINUTE - PEAK_MINUTES + 1, LAST_MINUTE) else PART


def _design(record: RunJson) -> str:
    """What only this engine has a choice of."""
    options = record["config"].get("engine_options") or {}
    if record["config"]["engine"] == "polling":
        return str(options.get("design", DEFAULT_DESIGN))
    return str(options.get("granularity", "-"))


def _machine_label(machine: Machine) -> str:
    cpu = machine.get("cpu", machine["system"])
    return f"{cpu}, {machine['cores']} cores, {machine['memory_gb']:.0f} GB"
