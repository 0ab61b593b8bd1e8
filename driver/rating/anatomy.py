"""What the price of a database is made of: a ladder from the stream engine to the row trigger, one change at a time.

Every rung runs on one worker, with the same seconds of the same road, one second per cycle, at two loads or more.  So
what a cycle takes splits into a fixed part and one for each tuple.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from types import MappingProxyType

import numpy as np

from driver.dataset.folder import Dataset
from driver.json_record import write_json
from driver.rating.rating import Announce, settings_of, timed_run
from driver.rating.record import ANATOMY, FORMAT, AnatomyRecord, LoadRecord, RungRecord, claim
from driver.run.config import RunConfig, configure
from driver.run.engines import Backends
from driver.run.journal import read_cycles
from driver.run.record import open_run, read_run
from driver.run.verdict import is_right
from polling_baseline import spec
from polling_baseline.engine import EngineFailure
from polling_baseline.project import ROOT

READINGS = 3
# Far enough from each other to tell what a tuple adds from what a cycle takes anyway.
LOADS = (1.0, 10.0)
MINUTES = 2
KIND = "toll"


@dataclass(frozen=True, slots=True)
class Rung:
    """One system, and what it changes about the one before it."""

    name: str
    change: str
    engine: str
    # The files that are its own, or that its kind cannot do without.
    code: Sequence[str]
    durability: str = "off"
    options: Mapping[str, str] = field(default_factory=dict)


POSTGRESQL = (
    "polling_baseline/database/**/*.py",
    "polling_baseline/engines/system_x/[bces]*.py",
    "sql/0*.sql",
    "stored_procs/functions/*.sql",
    "stored_procs/procedures/*.sql",
)
RING = (
    *POSTGRESQL,
    "polling_baseline/engines/system_x/polling.py",
    "sql/designs/ring/*.sql",
    "stored_procs/designs/ring/*.sql",
)
IN_PLACE = (
    *POSTGRESQL,
    "polling_baseline/engines/system_x/polling.py",
    "sql/designs/merge/*.sql",
    "stored_procs/designs/merge/*.sql",
)
TRIGGER = (
    *POSTGRESQL,
    "polling_baseline/engines/system_x/trigger.py",
    "stored_procs/triggers/row/*.sql",
)
STREAM = (
    "polling_baseline/engines/aurora/*.py",
    "polling_baseline/engines/aurora/model/*.py",
    "polling_baseline/engines/aurora/linear_road/*.py",
)
COLUMN_STORE = ("polling_baseline/engines/duckdb/*.py", "sql/duckdb/*.sql")
ROW_STORE = ("polling_baseline/engines/sqlite/*.py", "sql/sqlite/*.sql")

RUNGS = (
    Rung("stream", "columns in process, no SQL", "aurora", STREAM),
    Rung("sql", "the rules in SQL", "duckdb", COLUMN_STORE),
    Rung("file", "a database file and its log", "duckdb", COLUMN_STORE, "on"),
    Rung("rows", "rows, not columns; in memory", "sqlite", ROW_STORE),
    Rung("server", "another process, by a socket", "polling", RING),
    Rung("log", "a log that survives a crash", "polling", RING, "on"),
    Rung("in-place", "rows updated in place", "polling", IN_PLACE, "on", MappingProxyType({"design": "merge"})),
    Rung("by-row", "a trigger for each row", "trigger", TRIGGER, "on", MappingProxyType({"granularity": "row"})),
)


@dataclass(frozen=True, slots=True)
class Ladder:
    """What is to be run, and where."""

    folder: Path
    dataset: Dataset
    backends: Backends
    announce: Announce
    loads: Sequence[float] = LOADS
    readings: int = READINGS
    minutes: tuple[int, int] | None = None
    rungs: Sequence[Rung] = RUNGS

    @property
    def part(self) -> tuple[int, int]:
        """The minutes given, or the last ones: those with most traffic."""
        last = self.dataset.seconds // spec.MINUTE_S
        return self.minutes or (max(1, last - MINUTES + 1), last)

    def config(self, rung: Rung, xways: float) -> RunConfig:
        first, last = self.part
        return configure(
            dataset=str(self.dataset.path),
            engine=rung.engine,
            engine_options=dict(rung.options),
            durability=rung.durability,
            workers=1,
            clock="virtual",
            catch_up=False,
            xways=xways,
            from_minute=first,
            to_minute=last,
            # Who begins in mid-road meets all cars of the road as new ones, in the time between two reports.
            warm_up_s=spec.REPORT_PERIOD_S if first > 1 else 0,
        )

    def path(self, rung: Rung, xways: float, reading: int) -> Path:
        return self.folder / "runs" / f"{rung.name}-L{xways:g}-{reading}"


def dissect(ladder: Ladder) -> AnatomyRecord:
    """Make and judge the runs that are missing, and give what `anatomy.json` then says."""
    configs = {(rung.name, xways): ladder.config(rung, xways) for rung in ladder.rungs for xways in ladder.loads}
    settings = settings_of(next(iter(configs.values())), ladder.dataset)
    for own in ("engine", "engine_options", "durability"):
        del settings[own]
    settings |= {"loads": list(ladder.loads), "readings": ladder.readings}
    claim(ladder.folder / ANATOMY, settings)
    _make_runs(ladder, lambda rung, xways: configs[rung.name, xways])
    _judge(ladder)
    rungs = [_rung_record(ladder, rung) for rung in ladder.rungs]
    first = open_run(ladder.path(ladder.rungs[0], ladder.loads[0], 1))
    record: AnatomyRecord = {
        "format": FORMAT,
        "minutes": list(ladder.part),
        "distinct": int(ladder.dataset.xways),
        "seed": ladder.dataset.seed,
        "rungs": rungs,
        "environment": first.json["environment"],
        "settings": settings,
    }
    write_json(ladder.folder / ANATOMY, record)
    return record


def _make_runs(ladder: Ladder, config_for: Callable[[Rung, float], RunConfig]) -> None:
    """A reading of every rung, then the next: what the machine does meanwhile is shared by all."""
    wanted = [
        (rung, xways, reading)
        for reading in range(1, ladder.readings + 1)
        for rung in ladder.rungs
        for xways in ladder.loads
    ]
    for number, (rung, xways, reading) in enumerate(wanted, 1):
        path, name = ladder.path(rung, xways, reading), f"{rung.name} at L = {xways:g}, reading {reading}"
        if (path / "run.json").exists() and read_run(path)["state"] == "complete":
            ladder.announce(f"{name}: taken over")
            continue
        shutil.rmtree(path, ignore_errors=True)
        ladder.announce(f"{name}, {number} of {len(wanted)}")
        record = timed_run(config_for(rung, xways), ladder.dataset, ladder.backends, path, name, ladder.announce)
        if record["state"] != "complete":
            raise EngineFailure(f"{name}: {record['reason']}")


def _judge(ladder: Ladder) -> None:
    from driver.validate.judging import judge_runs

    for xways in ladder.loads:
        paths = [ladder.path(rung, xways, reading + 1) for rung in ladder.rungs for reading in range(ladder.readings)]
        if unjudged := [path for path in paths if open_run(path).verdict is None]:
            part = open_run(unjudged[0]).config.part_of(ladder.dataset)
            judge_runs(part, unjudged, ladder.backends.master, ladder.announce)


def _rung_record(ladder: Ladder, rung: Rung) -> RungRecord:
    loads = {f"{xways:g}": _load_record(ladder, rung, xways) for xways in ladder.loads}
    tuples, cycle_ms = (np.array([load[name] for load in loads.values()]) for name in ("tuples", "cycle_ms"))
    tuple_ms, fixed_ms = np.polyfit(tuples, cycle_ms, 1)
    return {
        "name": rung.name,
        "change": rung.change,
        "engine": rung.engine,
        "options": {**rung.options, "durability": rung.durability},
        "code_lines": count_lines(rung.code),
        "tuple_us": round(float(tuple_ms) * 1000, 3),
        "fixed_ms": round(max(float(fixed_ms), 0.0), 3),
        "loads": loads,
    }


def _load_record(ladder: Ladder, rung: Rung, xways: float) -> LoadRecord:
    paths = [ladder.path(rung, xways, reading) for reading in range(1, ladder.readings + 1)]
    runs = [open_run(path) for path in paths]
    readings = [_usual_cycle(path) for path in paths]
    cycle_ms, tuples = median(ms for _, ms in readings), readings[0][0]
    return {
        "tuples": tuples,
        "cycle_ms": round(cycle_ms, 3),
        "readings_ms": [round(ms, 3) for _, ms in readings],
        "tuple_us": round(cycle_ms * 1000 / tuples, 3),
        "toll_p50_s": median(run.json["answers"][KIND].get("p50", 0.0) for run in runs),
        "toll_max_s": median(run.json["answers"][KIND].get("max", 0.0) for run in runs),
        "runs": [os.path.relpath(path, ladder.folder) for path in paths],
        "right": all(run.verdict is not None and is_right(run.verdict) for run in runs),
    }


def _usual_cycle(path: Path) -> tuple[float, float]:
    """The median number of tuples and of milliseconds of the cycles that neither warm up nor close a minute."""
    cycles = read_cycles(path)
    start = cycles[0].seconds[0] + spec.REPORT_PERIOD_S
    usual = [cycle for cycle in cycles if cycle.seconds[0] >= start and cycle.seconds[0] % spec.MINUTE_S]
    times = [(cycle.ended - cycle.started) * 1000 for cycle in usual]
    return median(cycle.rows for cycle in usual), median(times)


def count_lines(patterns: Sequence[str]) -> int:
    """Lines that are neither blank nor a comment nor part of a text that explains."""
    files = {path for pattern in patterns for path in ROOT.glob(pattern)}
    return sum(_lines_of(path) for path in files)


def _lines_of(path: Path) -> int:
    count, explains = 0, False
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if path.suffix == ".py" and (text.startswith('"""') or explains):
            explains ^= text.count('"""') % 2 == 1
            continue
        count += bool(text) and not text.startswith(("#", "--"))
    return count
