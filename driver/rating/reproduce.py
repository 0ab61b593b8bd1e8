"""The paper's tables 7 and 8 beside this machine, and beside this machine slowed down by one factor per variant.

What a cycle takes comes from the runs of a variant; limits are applied to what is computed from it, so that a folder
can be asked again with others, and no run is repeated.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path

from driver.json_record import write_json
from driver.rating.paper import (
    AURORA,
    LIMIT_S,
    SCALE_FACTORS,
    STRICTER_LIMIT_S,
    SYSTEMS,
    VOLUMES,
    PaperSystem,
    Variant,
)
from driver.rating.rating import settings_of
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
    Curve,
    Numbers,
    ReplayResult,
    Schedule,
    fitted,
    measured_costs,
    replayed,
    tuples_per_second,
)
from driver.rating.variant_runs import Plan, Work, judge, make_runs, run_variant
from driver.run.journal import read_cycles
from driver.run.record import RunRecord, open_run, read_run

# A response time of the paper may be off by so much: its clock had whole seconds.
CLOCK_S = 1.0


def reproduce(plan: Plan) -> ReproductionRecord:
    """Make and judge the runs that are missing, compute the rest, and give what `reproduction.json` then says."""
    settings = settings_of(plan.config_for(plan.variants[0], SCALE_FACTORS[-1], 1.0), plan.dataset)
    for own in ("engine", "engine_options", "slower"):
        del settings[own]
    claim(plan.folder / REPRODUCTION, settings)
    work, tuples = make_runs(plan), _tuples(plan)
    variants = [_variant(plan, variant, tuples, work) for variant in plan.variants]
    first = plan.variants[0]
    record: ReproductionRecord = {
        "format": FORMAT,
        "minutes": [settings["from_minute"], settings["to_minute"]],
        "distinct": int(plan.dataset.xways),
        "seed": plan.dataset.seed,
        "clock": settings["clock"],
        "scale_factors": list(SCALE_FACTORS),
        "limits": dict(plan.limits),
        "limit_s": plan.limit_s,
        "systems": {system.name: _published(system) for system in SYSTEMS},
        "variants": variants,
        "volumes": _volumes(plan),
        "environment": read_run(plan.path(first, plan.scale_factors(first)[0]))["environment"],
        "settings": settings,
    }
    write_json(plan.folder / REPRODUCTION, record)
    return record


def _published(system: PaperSystem) -> PublishedRecord:
    return {
        "rating": system.rating,
        "fails_at": system.fails_at,
        "max_response_s": {f"{xways:g}": seconds for xways, seconds in system.max_response_s.items()},
        "first_late_second": system.first_late_second,
        "input_per_s": system.input_per_s,
        "output_per_s": system.output_per_s,
    }


def _tuples(plan: Plan) -> dict[float, Numbers]:
    """How many tuples each second has, by scale factor; the same for every variant."""
    configs = {
        xways: plan.config_for(variant, xways, 1.0)
        for variant in plan.variants
        for xways in variant.system.max_response_s
    }
    return {xways: tuples_per_second(config.part_of(plan.dataset), config.seconds) for xways, config in configs.items()}


def _variant(plan: Plan, variant: Variant, tuples: Mapping[float, Numbers], work: Work) -> VariantRecord:
    plan.announce(f"{variant.name}: looking for the factor")
    runs = {xways: plan.path(variant, xways) for xways in plan.scale_factors(variant)}
    return {
        "name": variant.name,
        "system": variant.system.name,
        "engine": variant.engine,
        "options": dict(variant.options),
        "runs": {f"{xways:g}": _measured(open_run(run), plan.folder) for xways, run in runs.items()},
        "slower": _slower(plan, variant, runs, tuples, work),
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


def _slower(
    plan: Plan, variant: Variant, runs: Mapping[float, Path], tuples: Mapping[float, Numbers], work: Work
) -> SlowerRecord:
    """With service times multiplied by the factor that fits the first failure of 2004 best."""
    system, config = variant.system, plan.config_for(variant, variant.system.fails_at, 1.0)
    schedule = Schedule(config.period_s, config.catch_up)
    costs = measured_costs(runs, variant.reads_segments)
    services = {xways: costs.service(config.seconds.start, tuples[xways], xways) for xways in system.max_response_s}
    factor, hits = fitted(
        services[system.rating],
        services[system.fails_at],
        system.max_response_s[system.fails_at],
        LIMIT_S,
        schedule,
    )
    shown = {xways: replayed(service, factor, schedule) for xways, service in services.items()}
    errors = _errors(system, shown)
    rating = _rating(shown, LIMIT_S)
    return {
        "factor": round(factor, 2),
        "fitted_to_s": system.max_response_s[system.fails_at],
        "hits": hits,
        "rating": rating,
        "at_least": rating == max(shown),
        "stricter_rating": _rating(shown, STRICTER_LIMIT_S),
        "rating_by_limits": _rating(shown, plan.limit_s),
        "max_response_s": {f"{xways:g}": round(run.max_response_s, 1) for xways, run in shown.items()},
        "first_late_second": shown[system.fails_at].first_late_second(LIMIT_S),
        "predicted": [f"{xways:g}" for xways in services if xways not in runs],
        "errors": {name: round(error, 2) for name, error in errors.items()},
        "mean_error": round(math.exp(sum(map(math.log, errors.values())) / len(errors)), 2),
        "longest_by_minute_s": shown[system.fails_at].longest_by_minute(),
        "cycle": _curve(costs.usual.cycle),
        "minute": _curve(costs.minute.cycle),
        "confirmed": _confirmed(plan, variant, round(factor, 2), work) if plan.confirms(variant) else None,
    }


def _curve(curve: Curve) -> CurveRecord:
    return {
        "fixed_ms": round(curve.fixed_s * 1e3, 3),
        "tuple_us": round(curve.tuple_s * 1e6, 3),
        "square_ns": round(curve.square_s * 1e9, 4),
        "tuple_xway_us": round(curve.tuple_xway_s * 1e6, 3),
    }


def _confirmed(plan: Plan, variant: Variant, factor: float, work: Work) -> MeasuredRecord:
    """The same by a run."""
    xways = variant.system.fails_at
    path = run_variant(plan, variant, xways, work, max(factor, 1.0))
    judge(plan, xways, [path], work)
    return _measured(open_run(path), plan.folder)


def _errors(system: PaperSystem, shown: Mapping[float, ReplayResult]) -> dict[str, float]:
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


def _rating(shown: Mapping[float, ReplayResult], limit_s: float) -> float:
    """The largest scale factor up to which nothing takes longer."""
    late = [xways for xways, run in shown.items() if run.max_response_s > limit_s]
    return max((xways for xways in shown if xways < min(late, default=math.inf)), default=0.0)


def _volumes(plan: Plan) -> dict[str, VolumeRecord]:
    """Of one expressway, by a run of it; of several, the mean."""
    ran = [(xways, plan.path(variant, xways)) for variant in plan.variants for xways in plan.scale_factors(variant)]
    xways, path = min(ran, key=lambda run: abs(run[0] - 1))
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
            (variant for variant in record["variants"] if variant["system"] == name),
            key=lambda variant: variant["slower"]["mean_error"],
            default=None,
        )
        for name in record["systems"]
    }
    stream = best[AURORA.name]
    others = [variant for name, variant in best.items() if name != AURORA.name and variant]
    if not stream or not others or not others[0]["slower"]["rating"]:
        return None
    return stream["slower"]["rating"] / others[0]["slower"]["rating"]
