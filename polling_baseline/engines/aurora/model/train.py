"""What flows: trains of tuples, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polling_baseline.batch import Columns


@dataclass(slots=True)
class Train:
    """Some consecutive tuples of a stream, sorted by `second` unless a window made them; never changed in place.

    `until` is a promise: every tuple of a later train of the stream has this second or a later one.  An empty train
    has no columns and moves time on.  `arrived` is when the first of its tuples came in.
    """

    columns: Columns
    until: int
    arrived: float = 0.0

    def __len__(self) -> int:
        for column in self.columns.values():
            return len(column)
        return 0

    def empty(self) -> Train:
        return Train({}, self.until, self.arrived)

    def part(self, rows: slice, until: int) -> Train:
        return Train({name: column[rows] for name, column in self.columns.items()}, until, self.arrived)

    def first(self) -> dict[str, object]:
        """The first tuple, for people."""
        return {name: column[:1].tolist()[0] for name, column in self.columns.items()}


def joined(trains: Sequence[Train]) -> Train:
    """Consecutive trains as one."""
    if len(trains) == 1:
        return trains[0]
    full = [train for train in trains if len(train)]
    arrived = min(train.arrived for train in full or trains)
    if len(full) < 2:
        return Train(full[0].columns if full else {}, trains[-1].until, arrived)
    return Train(stacked([train.columns for train in full]), trains[-1].until, arrived)


def stacked(parts: Sequence[Columns]) -> Columns:
    """Columns one below the other; those without rows do not matter, nor what columns they have."""
    parts = [part for part in parts if part and len(next(iter(part.values())))] or list(parts[:1])
    if len(parts) < 2:
        return parts[0] if parts else {}
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def cut(columns: Columns, size: int, until: int, arrived: float) -> list[Train]:
    """Tuples sorted by second, as trains of at most `size`; one empty train if there are none."""
    rows = len(columns["second"])
    if rows <= size:
        return [Train(columns if rows else {}, until, arrived)]
    whole = Train(columns, until, arrived)
    starts = range(0, rows, size)
    # The tuples of one second may be in two trains, so the first of them cannot promise the next second.
    untils = [int(columns["second"][start]) for start in starts[1:]] + [until]
    return [whole.part(slice(start, start + size), promise) for start, promise in zip(starts, untils, strict=True)]
