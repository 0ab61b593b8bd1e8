"""A run on disk: `run.json` says all about it; terminal, page and comparisons are made from it afterwards."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from driver.dataset.folder import Dataset
from driver.dataset.relabel import dataset_facts
from driver.files import complete_file
from driver.run.poller import Cycle
from driver.run.recording import Recording, Responses
from polling_baseline import spec
from polling_baseline.project import CHECKOUT
from polling_baseline.refusal import Refusal

FORMAT = 1
# Without these it is not even known what ran.
NEEDED = ("config", "dataset")
PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99.9": 99.9}
PACKAGES = ("linear-road", "pyspark", "psycopg2-binary", "apscheduler", "numpy", "pyarrow")
# The upper ends of the histogram's classes, in seconds: fine at first, coarser later.
HISTOGRAM_S = np.round(np.geomspace(0.001, 100_000, 97), 6)


@dataclass(frozen=True, slots=True)
class RunConfig:
    """All options of a run: the same options give the same run."""

    dataset: str
    engine: str
    clock: str
    period_s: float
    workers: int
    durability: str
    from_minute: int
    to_minute: int
    # What only this engine knows, by the option's name.
    engine_options: Mapping[str, str] = field(default_factory=dict)
    # The data set as so many expressways, if not as it is.
    xways: float | None = None
    # A rating has seen enough of a run with its first late answer.
    stop_when_late: bool = False
    # Of a run that begins in mid-road: the seconds in which every car is new, while the virtual clock waits for each.
    warm_up_s: int = 0


def write_run(folder: Path, facts: dict[str, Any]) -> None:
    """Replace `run.json`; a reader sees the old one or the new one."""
    with complete_file(folder / "run.json") as file:
        file.write((json.dumps({"format": FORMAT, **facts}, indent=1) + "\n").encode())
        file.flush()
        os.fsync(file.fileno())
    # Its name, and those of the other files, are on the disk then.
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def read_run(folder: Path) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads((folder / "run.json").read_text())
        known = facts["format"] == FORMAT
        whole = all(isinstance(facts.get(name), dict) for name in NEEDED)
    except (FileNotFoundError, NotADirectoryError):
        raise Refusal(f"{folder} is not a run; make one with lrb run") from None
    except PermissionError:
        raise Refusal(f"no permission to read {folder}") from None
    except (ValueError, KeyError, TypeError):
        raise Refusal(f"{folder}/run.json is damaged; run it again") from None
    if not known:
        raise Refusal(f"{folder} has format {facts['format']}, this lrb reads {FORMAT}; use the lrb that made it")
    if not whole:
        raise Refusal(f"{folder}/run.json is damaged: it has no {' or no '.join(NEEDED)}; run it again")
    return facts


def seconds_of(facts: dict[str, Any]) -> range:
    """The seconds that a run has to answer for: all of its minutes, or those until it was stopped for being late."""
    config = facts["config"]
    until = facts["covered"][1] + 1 if facts.get("state") == "late" else config["to_minute"] * spec.MINUTE_S
    return range((config["from_minute"] - 1) * spec.MINUTE_S, until)


def environment(engine_facts: dict[str, object]) -> dict[str, object]:
    """Where and with what a run took place; nothing in it is secret."""
    return {
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        **_commit(),
        "machine": {
            "cores": os.cpu_count(),
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
            "system": f"{platform.system()} {platform.machine()}",
        },
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "engine": engine_facts,
    }


def summary(recording: Recording, driver_s: float) -> dict[str, Any]:
    """What was measured: per kind of answer, per minute, of the cycles and of the feed."""
    return {
        "answers": {kind: _answer(recording.responses[kind], spec.DEADLINE_S[kind]) for kind in spec.ANSWERS},
        "minutes": _minutes(recording),
        "cycles": _cycles(recording.cycles),
        "feed": _feed(recording.cycles, driver_s),
    }


def broken_run(config: RunConfig, dataset: Dataset, reason: str) -> dict[str, Any]:
    """What `run.json` says of a run that broke before it started."""
    return {
        "state": "broken",
        "reason": reason,
        "config": config_facts(config),
        "dataset": dataset_facts(dataset),
        "environment": environment({}),
    }


def late_by(outage: Mapping[str, Any], recording: Recording) -> int:
    """How many answers an outage made late: those given after it until nothing waited any more, as far as late."""
    after = [cycle for cycle in recording.cycles if cycle.committed >= outage["until"]]
    caught_up = next((cycle.committed for cycle in after if cycle.backlog_s == 0), math.inf)
    late = 0
    for kind in spec.ANSWERS:
        seconds, times, counts = recording.responses[kind].columns()
        emits = seconds + times
        # Times have three decimals.
        held_up = (emits > outage["until"] - 0.001) & (emits < caught_up + 0.001)
        late += int(counts[held_up & (times > spec.DEADLINE_S[kind])].sum())
    return late


def config_facts(config: RunConfig) -> dict[str, object]:
    return asdict(config)


def _answer(responses: Responses, deadline_s: float) -> dict[str, Any]:
    _, times, counts = responses.columns()
    late = int(counts[times > deadline_s].sum())
    facts: dict[str, Any] = {"received": int(counts.sum()), "late": late, "limit_s": deadline_s}
    if not len(times):
        return facts
    for name, percent in PERCENTILES.items():
        facts[name] = weighted_percentile(times, counts, percent)
    classes = np.bincount(np.searchsorted(HISTOGRAM_S, times), counts, len(HISTOGRAM_S))
    histogram = [[float(HISTOGRAM_S[place]), int(classes[place])] for place in np.flatnonzero(classes)]
    return {**facts, "max": float(times.max()), "histogram": histogram}


def weighted_percentile(times: Any, counts: Any, percent: float) -> float:
    """The smallest response time that `percent` of the answers do not exceed."""
    order = np.argsort(times, kind="stable")
    reached = np.cumsum(counts[order])
    return float(times[order][np.searchsorted(reached, percent / 100 * reached[-1])])


def _minutes(recording: Recording) -> list[dict[str, Any]]:
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
            here = minutes == minute
            p50, p99 = (weighted_percentile(times[here], counts[here], percent) for percent in (50, 99))
            number, longest = int(counts[here].sum()), float(times[here].max())
            rows[int(minute)][kind] = {"received": number, "p50": p50, "p99": p99, "max": longest}
    return [rows[minute] for minute in sorted(rows)]


def _cycles(cycles: list[Cycle]) -> dict[str, Any]:
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


def _feed(cycles: list[Cycle], driver_s: float) -> dict[str, Any]:
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


def _commit() -> dict[str, object]:
    """The commit of a checkout, and whether it had changes; nothing when installed from a wheel."""

    def git(*words: str) -> str | None:
        try:
            done = subprocess.run(["git", "-C", str(CHECKOUT), *words], capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    commit = git("rev-parse", "--short", "HEAD") if CHECKOUT else None
    return {"commit": commit, "dirty": bool(git("status", "--porcelain"))} if commit else {"commit": None}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
