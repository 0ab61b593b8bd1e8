"""Small roads worked out by hand, one folder each.

`input.csv` holds lines of 15 fields, `expected.csv` the output file of a system without delay (Emit = Time) that gives
a balance as of the request's second, `toll_history.csv` and `segment_history.csv` the history if there is any, `why.md`
how the answers follow from the rules.  `rejects.csv`, where there is one, has the number and the kind of reason of
each line that is not acceptable.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from polling_baseline import spec

FOLDER = Path(__file__).parent
NAMES = tuple(sorted(path.parent.name for path in FOLDER.glob("*/input.csv")))
EMIT = (3, 2, 2, 2, 2)  # where Emit stands in an output line, by type


@dataclass(frozen=True, slots=True)
class Trace:
    """One trace: its acceptable lines, the rejects' kinds of reason by line number, the answers without Emit."""

    name: str
    lines: list[tuple[int, ...]]
    rejects: dict[int, str]
    expected: list[tuple[int, ...]]
    toll_history: dict[tuple[int, int, int], int]
    segment_history: list[tuple[int, ...]]

    @property
    def xways(self) -> int:
        """As many expressways as the trace needs."""
        return 1 + max((line[4] for line in self.lines if "XWay" in spec.USED[line[0]]), default=0)


def load(name: str) -> Trace:
    folder = FOLDER / name
    rejects = {int(number): reason for number, reason in _rows(folder / "rejects.csv")}
    lines = [row for number, row in enumerate(_rows(folder / "input.csv"), 1) if number not in rejects]
    return Trace(
        name,
        [tuple(map(int, line)) for line in lines],
        rejects,
        [without_emit(row) for row in _rows(folder / "expected.csv")],
        {(vid, day, xway): tolls for vid, day, xway, tolls in _integers(folder / "toll_history.csv")},
        list(_integers(folder / "segment_history.csv")),
    )


def without_emit(row: list[str]) -> tuple[int, ...]:
    """An output line as integers, less Emit."""
    at = EMIT[int(row[0])]
    return tuple(map(int, row[:at] + row[at + 1 :]))


def _integers(path: Path) -> list[tuple[int, ...]]:
    return [tuple(map(int, row)) for row in _rows(path)]


def _rows(path: Path) -> list[list[str]]:
    """The lines of a file, split; none if there is no such file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.reader(lines))
