"""The paper's tables 7 and 8, beside this machine, and beside this machine slowed down by one factor per system.

The run of each engine at each scale factor stays in the folder; one that is complete is not made again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from driver.dataset.folder import Dataset
from driver.json_record import write_json
from driver.rating.paper import SCALE_FACTORS, SYSTEMS, Published
from driver.rating.rating import Announce, settings_of
from driver.rating.record import (
    FORMAT,
    REPRODUCTION,
    CostRecord,
    MeasuredRecord,
    PublishedRecord,
    ReproductionRecord,
    SlowerRecord,
    SystemRecord,
    claim,
)
from driver.rating.slower_machine import Cost, fitted, measured_services, replayed
from driver.report.html.run import refresh_report
from driver.run.config import RunConfig
from driver.run.engines import ENGINES, Backends
from driver.run.loop import measure
from driver.run.record import open_run, read_run
from driver.run.record_types import FeedSummary
from polling_baseline import spec
from polling_baseline.engine import EngineFailure

ConfigFor = Callable[[str, float], RunConfig]


def reproduce(
    folder: Path, dataset: Dataset, config_for: ConfigFor, backends: Backends, announce: Announce
) -> ReproductionRecord:
    """Make the runs that are missing, compute the rest, and give what `reproduction.json` then says."""
    file = folder / REPRODUCTION
    there = [system for system in SYSTEMS if system.engine in ENGINES]
    settings = settings_of(config_for(there[0].engine, SCALE_FACTORS[-1]), dataset)
    del settings["engine"]
    claim(file, settings)
    runs = {
        system.engine: {
            xways: _run(folder, dataset, config_for(system.engine, xways), backends, announce)
            for xways in SCALE_FACTORS
        }
        for system in there
    }
    announce("slowing down by arithmetic")
    record: ReproductionRecord = {
        "format": FORMAT,
        "minutes": [settings["from_minute"], settings["to_minute"]],
        "distinct": int(dataset.xways),
        "seed": dataset.seed,
        "clock": settings["clock"],
        "scale_factors": list(SCALE_FACTORS),
        "systems": [_system(system, runs.get(system.engine), settings["period_s"]) for system in SYSTEMS],
        "environment": read_run(next(iter(runs[there[0].engine].values())))["environment"],
        "settings": settings,
    }
    write_json(file, record)
    return record


def _run(folder: Path, dataset: Dataset, config: RunConfig, backends: Backends, announce: Announce) -> Path:
    """The complete run of one engine at one scale factor."""
    path = folder / "runs" / f"{config.engine}-L{config.xways:g}"
    name = f"{config.engine} at L = {config.xways:g}"
    if (path / "run.json").exists() and read_run(path)["state"] == "complete":
        announce(f"{name}: taken over")
        return path
    shutil.rmtree(path, ignore_errors=True)
    announce(name)
    record = measure(config, config.part_of(dataset), backends, path)
    refresh_report(path)
    if record["state"] == "interrupted":
        announce(f"{name} was interrupted; the same command goes on from here")
        raise KeyboardInterrupt
    if record["state"] != "complete":
        raise EngineFailure(f"{name}: {record['reason']}")
    return path


def _system(system: Published, runs: Mapping[float, Path] | None, period_s: float) -> SystemRecord:
    paper: PublishedRecord = {
        "rating": system.rating,
        "max_response_s": {f"{xways:g}": seconds for xways, seconds in system.max_response_s.items()},
        "first_late_second": system.first_late_second,
    }
    return {
        "name": system.name,
        "engine": system.engine,
        "fails_at": system.fails_at,
        "paper": paper,
        "here": _here(runs) if runs else None,
        "slowed": _slowed(system, runs, period_s) if runs else None,
    }


def _here(runs: Mapping[float, Path]) -> MeasuredRecord:
    """What was measured, and the largest scale factor up to which no answer was late."""
    opened = {xways: open_run(path) for xways, path in runs.items()}
    in_time = {xways: not run.late for xways, run in opened.items()}
    return {
        "rating": _rating(in_time),
        "at_least": all(in_time.values()),
        "max_response_s": {f"{xways:g}": run.json["answers"]["toll"].get("max") for xways, run in opened.items()},
        "tuples_per_s": {f"{xways:g}": round(_rate(run.json["feed"])) for xways, run in opened.items()},
    }


def _rate(feed: FeedSummary) -> float:
    return feed["rows"] / feed["busy_s"] if feed.get("busy_s") else 0.0


def _rating(in_time: Mapping[float, bool]) -> float:
    best = 0.0
    for xways in sorted(in_time):
        if not in_time[xways]:
            break
        best = xways
    return best


def _slowed(system: Published, runs: Mapping[float, Path], period_s: float) -> SlowerRecord:
    """The same with service times multiplied by the factor that fits the first failure of 2004 best."""
    services = measured_services(runs)
    factor, hits = fitted(
        services[system.rating], services[system.fails_at], system.max_response_s[system.fails_at], period_s
    )
    found = {xways: replayed(service, factor, period_s) for xways, service in services.items()}
    in_time = {xways: each.first_late_second is None for xways, each in found.items()}
    return {
        "factor": round(factor, 2),
        # Whether the factor gives the response time that it was fitted to, or had to stop short of it.
        "fitted_to_s": system.max_response_s[system.fails_at],
        "hits": hits,
        "rating": _rating(in_time),
        "at_least": all(in_time.values()),
        "max_response_s": {f"{xways:g}": round(each.max_response_s, 1) for xways, each in found.items()},
        "first_late_second": found[system.fails_at].first_late_second,
        "cycle": _cost(services[system.rating].usual),
        "minute": _cost(services[system.rating].minute),
        "limit_s": spec.DEADLINE_S["toll"],
    }


def _cost(cost: Cost) -> CostRecord:
    return {"fixed_ms": round(cost.cycle.fixed_s * 1e3, 3), "tuple_us": round(cost.cycle.tuple_s * 1e6, 3)}
