"""A run read back from its folder: what `run.json`, `verdict.json` and `cycles.csv` say of it.

Reports, pages and comparisons are made from this alone; nothing here asks a database or Spark.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from driver.run.journal import CycleColumns, columns_of, read_cycles
from driver.run.result import RunConfig, read_run
from polling_baseline import spec
from polling_baseline.refusal import Refusal

FAULTS = ("missing", "extra", "duplicate", "wrong", "late", "early")
# The options that every run has.
REQUIRED = {each.name for each in fields(RunConfig) if each.default is MISSING and each.default_factory is MISSING}


@dataclass(frozen=True)
class Finished:
    """`facts` has all keys of a complete run's `run.json`, empty where nothing was measured."""

    folder: Path
    facts: dict[str, Any]
    verdict: dict[str, Any] | None

    @property
    def config(self) -> dict[str, Any]:
        return dict(self.facts["config"])

    @property
    def minutes(self) -> tuple[int, int]:
        return self.config["from_minute"], self.config["to_minute"]

    @property
    def kinds(self) -> list[str]:
        """The kinds of answers that came or should have."""
        expected = self.verdict["answers"] if self.verdict else {}
        return [
            kind
            for kind in spec.ANSWERS
            if self.facts["answers"][kind]["received"] or expected.get(kind, {}).get("expected")
        ]

    def faults(self) -> dict[str, int] | None:
        """All faults by kind of fault, if the run was judged."""
        if self.verdict is None:
            return None
        return {fault: sum(counts[fault] for counts in self.verdict["answers"].values()) for fault in FAULTS}

    @cached_property
    def cycles(self) -> CycleColumns | None:
        """Nothing where no cycle was completed."""
        cycles = read_cycles(self.folder)
        return columns_of(cycles) if cycles else None


def open_run(folder: Path) -> Finished:
    """What is known of a run, whether it ended well, badly or not at all."""
    return finished(read_run(folder), folder)


def finished(facts: dict[str, Any], folder: Path) -> Finished:
    """What is known of the run in this folder, whose `run.json` says `facts`."""
    whole = {
        "answers": {kind: {"received": 0, "late": 0, "limit_s": spec.DEADLINE_S[kind]} for kind in spec.ANSWERS},
        "minutes": [],
        "cycles": {"count": 0},
        "feed": {"rows": 0},
        **facts,
    }
    if absent := {"state", "config", "dataset", "environment"} - set(whole):
        raise Refusal(f"{folder}/run.json is damaged: it has no {min(absent)}; run it again")
    if absent := REQUIRED - set(whole["config"]):
        raise Refusal(f"{folder}/run.json is damaged: its config has no {min(absent)}; run it again")
    if whole["state"] == "running":
        whole["reason"] = "it was killed, or is still under way"
    return Finished(folder, whole, _verdict(folder, whole["dataset"]["identity"]))


def _verdict(folder: Path, identity: str) -> dict[str, Any] | None:
    """`verdict.json`, if it is one on this run's data."""
    try:
        verdict: dict[str, Any] = json.loads((folder / "verdict.json").read_text())
        return verdict if verdict["dataset"]["identity"] == identity else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
