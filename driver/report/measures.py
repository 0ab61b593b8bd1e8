"""What a run cost and how fast it answered; of several runs of one kind, the median and the range."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypedDict

from driver.report.text import answer_counts
from driver.run.record import RunRecord
from polling_baseline.wording import format_seconds

TIMES = ("p50", "p99", "max")
KIND = "toll"


def measures(run: RunRecord) -> dict[str, float | None]:
    """Tuples per second of busy time, microseconds and bytes of log per tuple, response times of tolls in seconds."""
    rows, busy_s = run.json["feed"]["rows"], run.json["feed"].get("busy_s")
    answer = answer_counts(run, KIND)
    wal_bytes = run.json["environment"]["engine"].get("wal_bytes")
    return {
        "tuples_per_s": rows / busy_s if busy_s else None,
        "us_per_tuple": busy_s / rows * 1e6 if rows and busy_s is not None else None,
        "wal_bytes_per_tuple": wal_bytes / rows if rows and wal_bytes is not None else None,
        **{f"{KIND}_{name}_s": answer.get(name) for name in TIMES},
    }


class SpreadRecord(TypedDict):
    """A figure of several runs of a kind; `values` by the order in which they were made."""

    median: float
    low: float
    high: float
    values: list[float]


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure of several runs of a kind, in the order in which they were made."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    def words(self, form: str) -> str:
        """The median, and the range where there is one to tell."""
        return self._worded(lambda value: format(value, form))

    def seconds(self, limit_s: float) -> str:
        """The same for response times."""
        return self._worded(lambda value: format_seconds(value, limit_s))

    def _worded(self, shown: Callable[[float], str]) -> str:
        if len(self.values) == 1:
            return shown(self.median)
        return f"{shown(self.median)} ({shown(self.low)} to {shown(self.high)})"


def spread_of(values: Iterable[float | None]) -> Spread | None:
    """None where nothing was measured."""
    measured = tuple(value for value in values if value is not None)
    return Spread(measured) if measured else None


def spread_record(spread: Spread) -> SpreadRecord:
    rounded = [round(value, 6) for value in spread.values]
    return {
        "median": round(spread.median, 6),
        "low": min(rounded),
        "high": max(rounded),
        "values": rounded,
    }


def spreads(runs: Sequence[RunRecord]) -> dict[str, Spread | None]:
    """The measures of runs of one kind."""
    of_runs = [measures(run) for run in runs]
    return {name: spread_of(own[name] for own in of_runs) for name in of_runs[0]}


def typical(runs: Sequence[RunRecord]) -> RunRecord:
    """The run that stands for all of its kind: one that failed if any did, else the one of median cost."""
    failed = [run for run in runs if has_failed(run)]
    ordered = sorted(failed or runs, key=lambda run: measures(run)["us_per_tuple"] or 0.0)
    return ordered[(len(ordered) - 1) // 2]


def has_failed(run: RunRecord) -> bool:
    """It broke, was late or was judged wrong; what was not judged has not failed by that."""
    is_wrong = run.verdict is not None and run.verdict["verdict"] == "FAIL"
    return run.json["state"] != "complete" or run.late > 0 or is_wrong
