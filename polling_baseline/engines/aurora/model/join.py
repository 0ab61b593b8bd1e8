"""Join: pairs of tuples, one from each stream, with the same key and not too far apart in time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polling_baseline.batch import Columns
from polling_baseline.engines.aurora.model.box import Box, Mask, Rows, taken
from polling_baseline.engines.aurora.model.train import Train, stacked


class Join(Box):
    """Pairs whose times, in column `time`, differ by `distance` seconds at most; the columns of the second stream get
    `other_` before their names.

    A tuple's time may lie up to `late` seconds before its stream's.  `match` may refuse pairs; it gets the pair's
    columns.
    """

    kind = "Join"
    ports = 2

    def __init__(
        self,
        name: str,
        key: str,
        distance: int,
        time: str = "second",
        late: int = 0,
        match: Callable[[Columns], Mask] | None = None,
    ) -> None:
        super().__init__(name)
        self._key, self._time = key, time
        self._distance, self._late, self._match = distance, late, match
        self._kept: list[Columns] = [{}, {}]
        self._untils = [-1, -1]

    def process(self, train: Train, port: int) -> Train | None:
        self._untils[port] = train.until
        pairs = self._pairs(train.columns, port) if train.columns else {}
        self._kept[port] = stacked([self._kept[port], train.columns])
        self._forget()
        return Train(pairs, min(self._untils), train.arrived)

    def _pairs(self, new: Columns, port: int) -> Columns:
        kept = self._kept[1 - port]
        if not kept:
            return {}
        new_rows, kept_rows = equal_pairs(new[self._key], kept[self._key])
        near = np.abs(new[self._time][new_rows] - kept[self._time][kept_rows]) <= self._distance
        new_tuples, kept_tuples = taken(new, new_rows[near]), taken(kept, kept_rows[near])
        left, right = (new_tuples, kept_tuples) if port == 0 else (kept_tuples, new_tuples)
        pairs = {**left, **{f"other_{name}": column for name, column in right.items()}}
        pairs["second"] = np.maximum(left["second"], right["second"])
        if self._match is not None:
            pairs = taken(pairs, np.flatnonzero(self._match(pairs)))
        return pairs if len(pairs["second"]) else {}

    def _forget(self) -> None:
        """Drop what is too old for all that may still come on the other port."""
        for port, kept in enumerate(self._kept):
            oldest = self._untils[1 - port] - self._late - self._distance
            if kept and kept[self._time].min() < oldest:
                rows = np.flatnonzero(kept[self._time] >= oldest)
                self._kept[port] = taken(kept, rows) if len(rows) else {}


def equal_pairs(left: np.ndarray, right: np.ndarray) -> tuple[Rows, Rows]:
    """The rows of all pairs with equal values."""
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    first = np.searchsorted(ordered, left, side="left")
    counts = np.searchsorted(ordered, left, side="right") - first
    left_rows = np.repeat(np.arange(len(left)), counts)
    within = np.arange(len(left_rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return left_rows, order[np.repeat(first, counts) + within]
