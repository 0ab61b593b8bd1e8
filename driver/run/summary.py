"""What a run's `run.json` says of its circumstances, and of what was measured."""

from __future__ import annotations

import math
import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from typing import Any, cast

import numpy as np

from driver.run.limits import Limits
from driver.run.machine import describe_machine
from driver.run.poller import Cycle
from driver.run.record_types import (
    AnswerSummary,
    CycleSummary,
    EngineFacts,
    Environment,
    FeedSummary,
    Measurements,
    MinuteSummary,
    Outage,
)
from driver.run.recording import Recording, Responses
from polling_baseline import spec
from polling_baseline.project import CHECKOUT

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99.9": 99.9}
PACKAGES = ("linear-road", "pyspark", "psycopg2-binary", "apscheduler", "numpy", "pyarrow")
# The upper ends of the histogram's classes, in seconds: fine at first, coarser later.
HISTOGRAM_S = np.round(np.geomspace(0.001, 100_000, 97), 6)


def environment(engine: EngineFacts) -> Environment:
    """Where and with what a run took place; nothing in it is secret."""
    commit = _git("rev-parse", "--short", "HEAD")
    environment: Environment = {
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": commit,
        "machine": describe_machine(),
        "python": platform.python_version(),
        "packages": {name: version for name in PACKAGES if (version := _version(name))},
        "engine": engine,
    }
    if commit:
        environment["dirty"] = bool(_git("status", "--porcelain"))
    return environment


def summary(recording: Recording, driver_s: float, limits: Limits) -> Measurements:
    """What was measured: per kind of answer, per minute, of the cycles and of the feed."""
    return {
        "answers": {kind: _answer(recording.responses[kind], limits[kind]) for kind in spec.ANSWERS},
        "minutes": _minutes(recording),
        "cycles": _cycles(recording.cycles),
        "feed": _feed(recording.cycles, driver_s),
    }


def late_by(outage: Outage, cycles: Sequence[Cycle], responses: Mapping[str, Responses], limits: Limits) -> int:
    """How many answers an outage made late: those given after it until nothing waited any more, as far as late."""
    after = [cycle for cycle in cycles if cycle.committed >= outage["until"]]
    caught_up = next((cycle.committed for cycle in after if cycle.backlog_s == 0), math.inf)
    late = 0
    for kind, of_kind in responses.items():
        seconds, times, counts = of_kind.columns()
        emits = seconds + times
        # Times have three decimals.
        held_up = (emits > outage["until"] - 0.001) & (emits < caught_up + 0.001)
        late += int(counts[held_up & (times > limits[kind])].sum())
    return late


def _answer(responses: Responses, limit_s: float) -> AnswerSummary:
    _, times, counts = responses.columns()
    late = responses.later_than(limit_s)
    answer: AnswerSummary = {"received": int(counts.sum()), "late": late, "limit_s": limit_s}
    if not len(times):
        return answer
    percentiles = {name: weighted_percentile(times, counts, percent) for name, percent in PERCENTILES.items()}
    classes = np.bincount(np.searchsorted(HISTOGRAM_S, times), counts, len(HISTOGRAM_S))
    histogram = [[float(HISTOGRAM_S[place]), int(classes[place])] for place in np.flatnonzero(classes)]
    return cast(AnswerSummary, {**answer, **percentiles, "max": float(times.max()), "histogram": histogram})


def weighted_percentile(times: Any, counts: Any, percent: float) -> float:
    """The smallest response time that `percent` of the answers do not exceed."""
    order = np.argsort(times, kind="stable")
    reached = np.cumsum(counts[order])
    return float(times[order][np.searchsorted(reached, percent / 100 * reached[-1])])


def _minutes(recording: Recording) -> list[MinuteSummary]:
    """A row per minute: its cycles, and for each kind of answer number, p50, p99 and max of the response time."""
    rows: dict[int, dict[str, Any]] = {}
    for cycle in recording.cycles:
        minute = spec.minute_of(cycle.seconds[0])
        row = rows.setdefault(minute, {"minute": minute, "rows": 0, "cycles": 0, "busy_s": 0.0, "backlog_s": 0})
        row["rows"] += cycle.rows
        row["cycles"] += 1
        row["busy_s"] = round(row["busy_s"] + cycle.ended - cycle.started, 4)
        row["backlog_s"] = max(row["backlog_s"], cycle.backlog_s)
    for kind in spec.ANSWERS:
        seconds, times, counts = recording.responses[kind].columns()
        minutes = seconds // spec.MINUTE_S + 1
        for minute in np.unique(minutes):
            in_minute = minutes == minute
            p50, p99 = (weighted_percentile(times[in_minute], counts[in_minute], percent) for percent in (50, 99))
            number, longest = int(counts[in_minute].sum()), float(times[in_minute].max())
            rows[int(minute)][kind] = {"received": number, "p50": p50, "p99": p99, "max": longest}
    return [cast(MinuteSummary, rows[minute]) for minute in sorted(rows)]


def _cycles(cycles: list[Cycle]) -> CycleSummary:
    if not cycles:
        return {"count": 0}
    took = np.array([cycle.ended - cycle.started for cycle in cycles]) * 1000
    names = cycles[0].steps
    return {
        "count": len(cycles),
        "mean_ms": round(float(took.mean()), 2),
        "p99_ms": round(float(np.percentile(took, 99)), 2),
        "max_ms": round(float(took.max()), 2),
        "of_several_seconds": sum(len(cycle.seconds) > 1 for cycle in cycles),
        "largest_backlog_s": max(cycle.backlog_s for cycle in cycles),
        "steps_mean_ms": {name: round(float(np.mean([cycle.steps[name] for cycle in cycles])), 3) for name in names},
    }


def _feed(cycles: list[Cycle], driver_s: float) -> FeedSummary:
    if not cycles:
        return {"rows": 0}
    lags = np.array([cycle.lag for cycle in cycles]) * 1000
    busy_s = sum(cycle.ended - cycle.started for cycle in cycles)
    return {
        "rows": sum(cycle.rows for cycle in cycles),
        "peak_rows_per_s": max(round(cycle.rows / len(cycle.seconds)) for cycle in cycles),
        "lag_p99_ms": round(float(np.percentile(lags, 99)), 2),
        "lag_max_ms": round(float(lags.max()), 2),
        "busy_s": round(busy_s, 3),
        "driver_s": round(driver_s, 3),
    }


def _git(*words: str) -> str | None:
    """What git says of the checkout; nothing where the program was installed from a wheel."""
    if CHECKOUT is None:
        return None
    try:
        done = subprocess.run(["git", "-C", str(CHECKOUT), *words], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
