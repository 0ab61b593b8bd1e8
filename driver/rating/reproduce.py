"""The paper's tables 7 and 8 beside this machine, and beside this machine slowed down by one factor per variant.

The run of each variant at each scale factor stays in the folder, with its verdict; one that is complete is not made
again.
"""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from driver.dataset.folder import Dataset
from driver.json_record import write_json
from driver.rating.paper import (
    AURORA,
    BRIEF,
    LIMIT_S,
    SCALE_FACTORS,
    STRICTER_LIMIT_S,
    SYSTEMS,
    VARIANTS,
    VOLUMES,
    Published,
    Variant,
)
from driver.rating.rating import Announce, settings_of
from driver.rating.record import (
    FORMAT,
    REPRODUCTION,
    CurveRecord,
    MeasuredRecord,
    PublishedRecord,
    ReproductionRecord,
    SlowerRecord,
    VariantRecord,
    VolumeRecord,
    claim,
)
from driver.rating.slower_machine import (
    Costs,
    Curve,
    Replayed,
    Schedule,
    Service,
    fitted,
    measured_costs,
    replayed,
    tuples_per_second,
)
from driver.report.html.run import refresh_report
from driver.run.config import RunConfig
from driver.run.engines import Backends
from driver.run.journal import read_cycles
from driver.run.loop import measure
from driver.run.record import RunRecord, config_of, open_run, read_run, write_run
from polling_baseline.engine import EngineFailure

# A response time of the paper may be off by so much: its clock had whole seconds.
CLOCK_S = 1.0
ConfigFor = Callable[[Variant, float, float], RunConfig]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run, and where; `config_for` gives the options of a variant at a scale factor, so much slower."""

    folder: Path
    dataset: Dataset
    config_for: ConfigFor
    backends: Backends
    announce: Announce
    variants: Sequence[Variant] = VARIANTS
    brief: bool = False

    def scale_factors(self, variant: Variant) -> tuple[float, ...]:
        """Those that are run."""
        brief = BRIEF.get(variant.name, variant.system.fails_at)
        return (brief,) if self.brief else tuple(variant.system.max_response_s)

    def path(self, variant: Variant, xways: float, slower: bool = False) -> Path:
        return self.folder / "runs" / f"{variant.name}-L{xways:g}{'-slower' if slower else ''}"


def reproduce(plan: Plan) -> ReproductionRecord:
    """Make and judge the runs that are missing, compute the rest, and give what `reproduction.json` then says."""
    settings = settings_of(plan.config_for(plan.variants[0], SCALE_FACTORS[-1], 1.0), plan.dataset)
    for own in ("engine", "engine_options", "slower"):
        del settings[own]
    claim(plan.folder / REPRODUCTION, settings)
    _make_runs(plan)
    variants = [_variant(plan, variant) for variant in plan.variants]
    first = plan.variants[0]
    record: ReproductionRecord = {
        "format": FORMAT,
        "minutes": [settings["from_minute"], settings["to_minute"]],
        "distinct": int(plan.dataset.xways),
        "seed": plan.dataset.seed,
        "clock": settings["clock"],
        "scale_factors": list(SCALE_FACTORS),
        "systems": {system.name: _published(system) for system in SYSTEMS},
        "variants": variants,
        "volumes": _volumes(plan),
        "environment": read_run(plan.path(first, plan.scale_factors(first)[0]))["environment"],
        "settings": settings,
    }
    write_json(plan.folder / REPRODUCTION, record)
    return record


def _make_runs(plan: Plan) -> None:
    """All runs by rising scale factor; those of one are judged together, so that the reference is computed once."""
    wanted = [
        (xways, variant) for xways in SCALE_FACTORS for variant in plan.variants if xways in plan.scale_factors(variant)
    ]
    work = _Work(sum(xways for xways, _ in wanted), plan.announce)
    for xways in sorted({xways for xways, _ in wanted}):
        variants = [variant for factor, variant in wanted if factor == xways]
        for variant in variants:
            _run(plan, variant, xways, work)
        _judge(plan, [plan.path(variant, xways) for variant in variants])


class _Work:
    """Says what comes next and how long the rest will take, by the expressways that are done."""

    def __init__(self, expressways: float, announce: Announce) -> None:
        self._left, self._announce = expressways, announce
        self._done, self._took_s = 0.0, 0.0

    def begin(self, what: str) -> None:
        rest = f"; about {self._took_s / self._done * self._left / 60:.0f} min left" if self._done else ""
        self._announce(f"{what}{rest}")

    def end(self, xways: float, took_s: float) -> None:
        self._left -= xways
        self._done += xways
        self._took_s += took_s

    def take_over(self, what: str, xways: float) -> None:
        self._left -= xways
        self._announce(f"{what}: taken over")


def _run(plan: Plan, variant: Variant, xways: float, work: _Work, slower: float = 1.0) -> Path:
    """The complete run of one variant at one scale factor."""
    path = plan.path(variant, xways, slower != 1)
    name = f"{variant.name} at L = {xways:g}" + (f", {slower:.1f} times slower" if slower != 1 else "")
    config = plan.config_for(variant, xways, slower)
    if (path / "run.json").exists():
        before = read_run(path)
        if before["state"] == "complete" and config_of(before).slower == slower:
            work.take_over(name, xways)
            return path
    shutil.rmtree(path, ignore_errors=True)
    work.begin(name)
    begun = time.monotonic()
    record = measure(config, config.part_of(plan.dataset), plan.backends, path)
    record["took_s"] = round(time.monotonic() - begun, 1)
    write_run(path, record)
    refresh_report(path)
    work.end(xways, record["took_s"])
    if record["state"] == "interrupted":
        plan.announce(f"{name} was interrupted; the same command goes on from here")
        raise KeyboardInterrupt
    if record["state"] != "complete":
        raise EngineFailure(f"{name}: {record['reason']}")
    return path


def _judge(plan: Plan, folders: Sequence[Path]) -> None:
    """Ask the reference about runs of one scale factor that have no verdict yet."""
    from driver.validate.judging import judge_runs

    if unjudged := [folder for folder in folders if open_run(folder).verdict is None]:
        dataset = open_run(unjudged[0]).config.part_of(plan.dataset)
        judge_runs(dataset, unjudged, plan.backends.master, plan.announce)
        for folder in unjudged:
            refresh_report(folder)


def _published(system: Published) -> PublishedRecord:
    return {
        "rating": system.rating,
        "fails_at": system.fails_at,
        "max_response_s": {f"{xways:g}": seconds for xways, seconds in system.max_response_s.items()},
        "first_late_second": system.first_late_second,
        "input_per_s": system.input_per_s,
        "output_per_s": system.output_per_s,
    }


def _variant(plan: Plan, variant: Variant) -> VariantRecord:
    plan.announce(f"{variant.name}: looking for the factor")
    runs = {xways: plan.path(variant, xways) for xways in plan.scale_factors(variant)}
    return {
        "name": variant.name,
        "system": variant.system.name,
        "engine": variant.engine,
        "options": dict(variant.options),
        "runs": {f"{xways:g}": _measured(open_run(run), plan.folder) for xways, run in runs.items()},
        "slower": _slower(plan, variant, runs),
    }


def _measured(run: RunRecord, home: Path) -> MeasuredRecord:
    feed, busy_s = run.json["feed"], run.json["feed"].get("busy_s")
    seconds = len(run.config.seconds)
    return {
        "run": os.path.relpath(run.folder, home),
        "max_response_s": run.json["answers"]["toll"].get("max"),
        "first_late_second": _first_late(run),
        "verdict": run.verdict and run.verdict["verdict"],
        "tuples_per_s": round(feed["rows"] / busy_s) if busy_s else 0,
        "input_per_s": round(feed["rows"] / seconds, 1),
        "output_per_s": round(sum(answer["received"] for answer in run.json["answers"].values()) / seconds, 1),
    }


def _first_late(run: RunRecord) -> int | None:
    late = (cycle.seconds[0] for cycle in read_cycles(run.folder) if cycle.committed - cycle.seconds[0] > LIMIT_S)
    return next(late, None)


def _slower(plan: Plan, variant: Variant, runs: Mapping[float, Path]) -> SlowerRecord:
    """With service times multiplied by the factor that fits the first failure of 2004 best."""
    system, config = variant.system, plan.config_for(variant, variant.system.fails_at, 1.0)
    schedule = Schedule(config.period_s, config.catch_up)
    costs = measured_costs(runs.values())
    services = {xways: _service(plan, variant, xways, costs) for xways in system.max_response_s}
    factor, hits = fitted(
        services[system.rating],
        services[system.fails_at],
        system.max_response_s[system.fails_at],
        LIMIT_S,
        schedule,
    )
    shown = {xways: replayed(service, factor, schedule) for xways, service in services.items()}
    errors = _errors(system, shown)
    in_time = {xways: each.max_response_s <= LIMIT_S for xways, each in shown.items()}
    return {
        "factor": round(factor, 2),
        "fitted_to_s": system.max_response_s[system.fails_at],
        "hits": hits,
        "rating": _rating(in_time),
        "at_least": all(in_time.values()),
        "stricter_rating": _rating({x: each.max_response_s <= STRICTER_LIMIT_S for x, each in shown.items()}),
        "max_response_s": {f"{xways:g}": round(each.max_response_s, 1) for xways, each in shown.items()},
        "first_late_second": shown[system.fails_at].first_late_second(LIMIT_S),
        "predicted": [f"{xways:g}" for xways in services if xways not in runs],
        "errors": {name: round(error, 2) for name, error in errors.items()},
        "mean_error": round(math.exp(sum(map(math.log, errors.values())) / len(errors)), 2),
        "longest_by_minute_s": shown[system.fails_at].longest_by_minute(),
        "cycle": _curve(costs.usual.cycle),
        "minute": _curve(costs.minute.cycle),
        "confirmed": None if plan.brief else _confirmed(plan, variant, round(factor, 2)),
    }


def _service(plan: Plan, variant: Variant, xways: float, costs: Costs) -> Service:
    config = plan.config_for(variant, xways, 1.0)
    tuples = tuples_per_second(config.part_of(plan.dataset), config.seconds)
    return costs.service(config.seconds.start, tuples)


def _curve(curve: Curve) -> CurveRecord:
    return {
        "fixed_ms": round(curve.fixed_s * 1e3, 3),
        "tuple_us": round(curve.tuple_s * 1e6, 3),
        "square_ns": round(curve.square_s * 1e9, 4),
    }


def _confirmed(plan: Plan, variant: Variant, factor: float) -> MeasuredRecord:
    """The same by a run."""
    xways = variant.system.fails_at
    path = _run(plan, variant, xways, _Work(xways, plan.announce), max(factor, 1.0))
    _judge(plan, [path])
    return _measured(open_run(path), plan.folder)


def _errors(system: Published, shown: Mapping[float, Replayed]) -> dict[str, float]:
    """How many times each figure of the paper is missed."""
    errors = {f"{xways:g}": _missed(shown[xways].max_response_s, then) for xways, then in system.max_response_s.items()}
    late = shown[system.fails_at].first_late_second(LIMIT_S)
    if late is not None:
        errors["first late"] = max(late, 1) / system.first_late_second
        errors["first late"] = max(errors["first late"], 1 / errors["first late"])
    return errors


def _missed(seconds: float, then: float) -> float:
    """How many times too much or too little; what the paper's clock cannot tell apart is no miss."""
    nearest = min(max(seconds, then - CLOCK_S), then + CLOCK_S)
    seconds, nearest = max(seconds, CLOCK_S), max(nearest, CLOCK_S)
    return max(seconds / nearest, nearest / seconds)


def _rating(in_time: Mapping[float, bool]) -> float:
    best = 0.0
    for xways in sorted(in_time):
        if not in_time[xways]:
            break
        best = xways
    return best


def _volumes(plan: Plan) -> dict[str, VolumeRecord]:
    """Of one expressway, by a run of it; of several, the mean."""
    ran = [(xways, plan.path(variant, xways)) for variant in plan.variants for xways in plan.scale_factors(variant)]
    xways, path = min(ran, key=lambda each: abs(each[0] - 1))
    record = read_run(path)
    answers = {kind: answer["received"] for kind, answer in record["answers"].items()}
    requests = sum(answers[kind] for kind in ("balance", "expenditure", "travel_time"))
    counted = {
        "position reports": record["feed"]["rows"] - requests,
        "balance requests": answers["balance"],
        "expenditure requests": answers["expenditure"],
        "toll notifications": answers["toll"],
        "accident alerts": answers["accident"],
    }
    return {name: {"paper": then, "here": round(counted[name] / xways)} for name, then in VOLUMES.items()}


def ratio_of_ratings(record: ReproductionRecord) -> float | None:
    """How many times as many expressways as System X Aurora holds, by the variants that come nearest to the paper."""
    best = {
        name: min(
            (each for each in record["variants"] if each["system"] == name),
            key=lambda each: each["slower"]["mean_error"],
            default=None,
        )
        for name in record["systems"]
    }
    stream = best[AURORA.name]
    others = [each for name, each in best.items() if name != AURORA.name and each]
    if not stream or not others or not others[0]["slower"]["rating"]:
        return None
    return stream["slower"]["rating"] / others[0]["slower"]["rating"]
