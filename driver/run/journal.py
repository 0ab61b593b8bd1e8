"""`cycles.csv`, the journal of a run: a line per cycle, written when the cycle's answers are in `output.csv`.

The line says how long `output.csv` was then.  So a run that was killed in the middle of a cycle, or of a line, is cut
back to its last complete line.  This module is the only reader and writer of the file.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from driver.run.poller import Cycle
from polling_baseline import spec

NAME, OUTPUT = "cycles.csv", "output.csv"
MOMENTS = ("due", "started", "committed", "ended")
# The last one is the length of `output.csv`.  The engine's steps follow.
COLUMNS = ("first_second", "last_second", "rows", *MOMENTS, "backlog_s", "output_bytes")
STEP_SUFFIX = "_ms"
# What a cycle takes beside the engine's own steps.
REST = "reading answers"


class JournalWriter:
    """Adds cycles to the journal in a folder, which may hold some of the same run already."""

    def __init__(self, folder: Path, durable: bool = False) -> None:
        self._durable = durable
        self._file = (folder / NAME).open("a", newline="")
        self._lines = csv.writer(self._file, lineterminator="\n")
        self._is_new = self._file.tell() == 0

    def write(self, cycle: Cycle, output_bytes: int) -> None:
        if self._is_new:
            self._is_new = False
            self._lines.writerow((*COLUMNS, *cycle.steps))
        moments = (f"{getattr(cycle, name):.4f}" for name in MOMENTS)
        steps = (f"{ms:.3f}" for ms in cycle.steps.values())
        self._lines.writerow(
            (cycle.seconds[0], cycle.seconds[-1], cycle.rows, *moments, cycle.backlog_s, output_bytes, *steps)
        )
        # Whoever follows the run reads it now.
        self._file.flush()
        if self._durable:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


@dataclass(frozen=True, slots=True)
class Journal:
    """The complete cycles of a run, and how long both files are up to the last of them."""

    cycles: list[Cycle]
    journal_bytes: int = 0
    output_bytes: int = 0

    @property
    def next_second(self) -> int | None:
        return self.cycles[-1].seconds.stop if self.cycles else None


def read_journal(folder: Path, until: int) -> Journal:
    """The cycles of the seconds before `until` whose answers are in `output.csv`; changes nothing."""
    output = folder / OUTPUT
    size = output.stat().st_size if output.exists() else -1
    complete = itertools.takewhile(
        lambda entry: entry[0].seconds.stop <= until and entry[2] <= size, _entries(folder / NAME)
    )
    entries = list(complete)
    if not entries:
        return Journal([])
    _, journal_bytes, output_bytes = entries[-1]
    return Journal([cycle for cycle, _, _ in entries], journal_bytes, int(output_bytes))


def read_cycles(folder: Path) -> list[Cycle]:
    """All cycles of a run, as far as their lines are complete; none where there is no journal."""
    return [cycle for cycle, _, _ in _entries(folder / NAME)]


class JournalReader:
    """Follows the journal of a run that may be under way."""

    def __init__(self, folder: Path, length: int = 0, output_bytes: float = 0.0) -> None:
        """From its beginning, or from where an earlier reader was."""
        self._path = folder / NAME
        self._header = b""
        self.length = length
        # How much of `output.csv` belongs to the cycles that were given.
        self.output_bytes = output_bytes

    def new_cycles(self) -> list[Cycle]:
        """Those entered since it was last asked."""
        if not self._path.exists() or self._path.stat().st_size <= self.length:
            return []
        with self._path.open("rb") as file:
            if not self._header:
                header = file.readline()
                if not header.endswith(b"\n"):
                    return []
                self._header, self.length = header, max(self.length, len(header))
            file.seek(self.length)
            data = file.read()
        entries = list(_parsed(self._header, data, self.length))
        if entries:
            _, self.length, self.output_bytes = entries[-1]
        return [cycle for cycle, _, _ in entries]


def _entries(path: Path) -> Iterator[tuple[Cycle, int, float]]:
    """Each cycle with the length of the journal up to it, and that of the output; a torn line ends it."""
    header, newline, data = (path.read_bytes() if path.exists() else b"").partition(b"\n")
    yield from _parsed(header, data, len(header + newline))


def _parsed(header: bytes, data: bytes, length: int) -> Iterator[tuple[Cycle, int, float]]:
    names = header.decode("ascii", "replace").rstrip("\n").split(",")
    for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
        length += len(line)
        try:
            [values] = csv.reader(io.StringIO(line.decode("ascii")))
            row = dict(zip(names, map(float, values), strict=True))
            yield _cycle(row), length, row.get("output_bytes", math.inf)
        except (ValueError, KeyError):
            return


def _cycle(row: dict[str, float]) -> Cycle:
    return Cycle(
        seconds=range(int(row["first_second"]), int(row["last_second"]) + 1),
        rows=int(row["rows"]),
        due=row["due"],
        started=row["started"],
        committed=row["committed"],
        ended=row["ended"],
        backlog_s=int(row["backlog_s"]),
        steps={name: value for name, value in row.items() if name not in COLUMNS},
    )


def step_name(column: str) -> str:
    """`copy` for the column `copy_ms`."""
    return column.removesuffix(STEP_SUFFIX)


@dataclass(frozen=True, slots=True)
class CycleColumns:
    """Cycles as columns; `answered_s` is how long the first second of each waited for its answers."""

    first_second: npt.NDArray[Any]
    answered_s: npt.NDArray[Any]
    minute: npt.NDArray[Any]
    took_ms: npt.NDArray[Any]
    steps_ms: dict[str, npt.NDArray[Any]]

    @property
    def minutes(self) -> npt.NDArray[Any]:
        return np.unique(self.minute)

    def mean_by_minute(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        first = int(self.minutes[0])
        sums, counts = np.bincount(self.minute - first, values), np.bincount(self.minute - first)
        return sums[counts > 0] / counts[counts > 0]

    def slowest_by_minute(self) -> npt.NDArray[Any]:
        return np.array([self.took_ms[self.minute == minute].max() for minute in self.minutes])


def columns_of(cycles: Sequence[Cycle]) -> CycleColumns:
    took = np.array([cycle.ended - cycle.started for cycle in cycles]) * 1000
    steps = {step_name(name): np.array([cycle.steps[name] for cycle in cycles]) for name in cycles[0].steps}
    steps[REST] = np.maximum(took - sum(steps.values()), 0)
    first = np.array([cycle.seconds[0] for cycle in cycles])
    answered = np.array([cycle.committed for cycle in cycles]) - first
    return CycleColumns(first, answered, np.array([spec.minute_of(second) for second in first]), took, steps)
