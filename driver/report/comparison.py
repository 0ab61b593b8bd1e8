"""`comparison.json`: which runs a comparison is made of, their verdicts, and the median and range of what they cost."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from driver.dataset.relabel import DatasetLabel
from driver.json_record import read_json, write_json
from driver.report.compare import labels
from driver.report.measures import SpreadRecord, spread_record, spreads, typical
from driver.run.record import RunRecord
from driver.run.record_types import Environment
from polling_baseline.refusal import Refusal

FORMAT = 1
NAME = "comparison.json"
PAGE = "compare.html"


class ComparedRecord(TypedDict):
    """One system at one L: all its runs."""

    label: str
    engine: str
    xways: float
    # Their folders, seen from the comparison's.
    runs: list[str]
    states: list[str]
    # PASS or FAIL; null if it was not judged.
    verdicts: list[str | None]
    # What was measured, by name.
    measures: dict[str, SpreadRecord]


class ComparisonRecord(TypedDict):
    format: int
    # Of the first run.
    dataset: DatasetLabel
    minutes: list[int]
    clock: str
    # How often each system was run.
    repeat: int
    systems: list[ComparedRecord]
    environment: Environment


def comparison_record(
    kinds: Sequence[Sequence[RunRecord]], home: Path, names: Sequence[str] | None = None
) -> ComparisonRecord:
    """What the record says of runs by kind; `home` is the folder that it lies in, `names` are labels of the kinds."""
    chosen = [typical(runs) for runs in kinds]
    first = chosen[0]
    return {
        "format": FORMAT,
        "dataset": first.json["dataset"],
        "minutes": list(first.minutes),
        "clock": first.config.clock,
        "repeat": max(map(len, kinds)),
        "systems": [_compared(label, runs, home) for label, runs in zip(names or labels(chosen), kinds, strict=True)],
        "environment": first.json["environment"],
    }


def _compared(label: str, runs: Sequence[RunRecord], home: Path) -> ComparedRecord:
    return {
        "label": label,
        "engine": runs[0].config.engine,
        "xways": runs[0].json["dataset"]["xways"],
        "runs": [os.path.relpath(run.folder, home) for run in runs],
        "states": [run.json["state"] for run in runs],
        "verdicts": [run.verdict and run.verdict["verdict"] for run in runs],
        "measures": {name: spread_record(spread) for name, spread in spreads(runs).items() if spread},
    }


def write_comparison(folder: Path, record: ComparisonRecord) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / NAME, record)


def read_comparison(folder: Path) -> ComparisonRecord:
    record = read_json(folder / NAME, ComparisonRecord, "make it again with lrb compare")
    if record["format"] != FORMAT:
        raise Refusal(f"{folder} has format {record['format']}, this lrb reads {FORMAT}; use the lrb that made it")
    return record
