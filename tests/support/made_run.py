"""Runs made without an engine: the driver's own files for cycles and answers that a test invents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from driver.run.config import RunConfig
from driver.run.limits import limits_in_force
from driver.run.poller import Cycle
from driver.run.record import write_run
from driver.run.recording import Recording
from driver.run.summary import environment, summary
from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS, Answers

# Answers a second, by kind; some that are typical of half an expressway.
USUAL = {"toll": 20, "accident": 2, "balance": 3, "expenditure": 1, "travel_time": 2}
ROWS = 100


def make_run(
    folder: Path,
    minutes: int = 3,
    answers: Mapping[str, int] = USUAL,
    service_s: Callable[[int], float] = lambda second: 0.02,
    state: Mapping[str, Any] | None = None,
    **config: Any,
) -> Path:
    """A run in which second t takes `service_s(t)`, each second by itself, and gives these answers."""
    folder.mkdir(parents=True)
    options: dict[str, Any] = {
        "dataset": "road",
        "engine": "polling",
        "clock": "virtual",
        "period_s": 1.0,
        "workers": 1,
        "durability": "off",
        "from_minute": 1,
        "to_minute": minutes,
    }
    recording = Recording(folder)
    free_at = 0.0
    for second in range(minutes * spec.MINUTE_S if answers or state is None else 0):
        started = max(float(second), free_at)
        free_at = started + service_s(second)
        for kind, number in answers.items():
            columns = {name: np.full(number, second if name == "second" else 1) for name in ANSWER_KINDS[kind].columns}
            recording.answers(Answers(kind, columns), free_at)
        recording.cycle(_cycle(second, started, free_at))
    recording.close()
    facts = {
        "state": "complete",
        **(state or {}),
        "config": RunConfig(**{**options, **config}).as_json(),
        "dataset": {"name": "road", "identity": "made", "xways": 0.5, "seed": 42},
        "environment": environment({"PostgreSQL": "18.4", "settings": {"fsync": "off", "note": "<script>&"}}),
    }
    write_run(folder, {**facts, **summary(recording, 0.1, limits_in_force(config.get("limits", {})))})
    return folder


def _cycle(second: int, started: float, ended: float) -> Cycle:
    ms = (ended - started) * 1000
    return Cycle(
        seconds=range(second, second + 1),
        rows=ROWS,
        due=float(second),
        started=started,
        committed=ended,
        ended=ended,
        backlog_s=max(0, int(ended) - second - 1),
        steps={"copy_ms": ms * 0.2, "advance_ms": ms * 0.6, "commit_ms": ms * 0.1},
    )


def verdict(run: dict[str, Any], **faults: dict[str, int]) -> dict[str, Any]:
    """What `verdict.json` says if all answers were right but for these faults, by kind of answer."""
    counts = ("missing", "extra", "duplicate", "wrong", "late", "early", "lenient")
    times = ("p50", "p90", "p99", "p99.9", "max")
    answers = {}
    for kind, measured in run["answers"].items():
        own = dict.fromkeys(counts, 0) | {"late": measured["late"]} | faults.get(kind, {})
        given = {"expected": measured["received"] + own["missing"], "received": measured["received"]}
        answers[kind] = {**given, **own, **{name: measured.get(name) for name in times}}
    fails = any(answer[name] for answer in answers.values() for name in counts)
    return {
        "format": 1,
        "verdict": "FAIL" if fails else "PASS",
        "dataset": run["dataset"],
        "minutes": [run["config"]["from_minute"], run["config"]["to_minute"]],
        "xways": "all",
        "lenient": False,
        "accidents_end": "specification",
        "answers": answers,
        "lines": {"total": 1, "blank": 0, "unknown_type": 0, "malformed": 0, "extra_fields": 0, "examples": []},
    }
