"""Boxes that look at windows: the tuples of some seconds at once.

A window of `size` seconds starts at a multiple of it and closes when no tuple of it can come any more.  What it gives
carries the window's last second.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from polling_baseline.batch import Columns
from polling_baseline.engines.aurora.model.box import Box, taken
from polling_baseline.engines.aurora.model.hashing import Numbering
from polling_baseline.engines.aurora.model.train import Train, stacked


class Aggregate(Protocol):
    """What becomes of the tuples of one window, as they come in."""

    def add(self, columns: Columns) -> None: ...

    def close(self) -> Columns:
        """The window's tuples, without `second`; no columns if there are none."""


class WindowBox(Box):
    """Hands each window's tuples to `_add` and calls `_close` when the window is over; windows without any are passed
    over unless the box looks at empty ones too."""

    def __init__(self, name: str, size: int) -> None:
        super().__init__(name)
        self._size = size
        self._next: int | None = None  # the first window that has not closed

    def process(self, train: Train, port: int) -> Train | None:
        for window, columns in self._windows(train.columns):
            self._next = window if self._next is None else min(self._next, window)
            self._add(window, columns)
        given = []
        while (due := self._due(train.until)) is not None:
            columns = self._close(due)
            if columns and (rows := len(next(iter(columns.values())))):
                second = np.full(rows, (due + 1) * self._size - 1, np.int32)
                given.append({**columns, "second": second})
            self._next = due + 1
        return Train(stacked(given), train.until, train.arrived)

    def _windows(self, columns: Columns) -> Iterator[tuple[int, Columns]]:
        """The tuples of each window that a train has; nearly always it is one."""
        if not columns:
            return
        windows = columns["second"] // self._size
        first, last = int(windows.min()), int(windows.max())
        if first == last:
            yield first, columns
            return
        for window in range(first, last + 1):
            rows = np.flatnonzero(windows == window)
            if len(rows):
                yield window, taken(columns, rows)

    def _due(self, until: int) -> int | None:
        """The next window to close, if it is over."""
        if self._next is None or (self._next + 1) * self._size > until:
            return None
        return self._next

    @abstractmethod
    def _add(self, window: int, columns: Columns) -> None:
        """Take tuples of a window that is open."""

    @abstractmethod
    def _close(self, window: int) -> Columns:
        """What the window comes to."""


class Tumble(WindowBox):
    """Windows that share no tuple, each with an aggregate of its own."""

    kind = "Tumble"

    def __init__(self, name: str, size: int, aggregate: Callable[[], Aggregate]) -> None:
        super().__init__(name, size)
        self._aggregate = aggregate
        self._open: dict[int, Aggregate] = {}

    def _add(self, window: int, columns: Columns) -> None:
        if window not in self._open:
            self._open[window] = self._aggregate()
        self._open[window].add(columns)

    def _close(self, window: int) -> Columns:
        return self._open.pop(window).close()

    def _due(self, until: int) -> int | None:
        window = min(self._open, default=None)
        return window if window is not None and (window + 1) * self._size <= until else None


class Slide(WindowBox):
    """A window over the last `windows` times `size` seconds, moved on by `size`; it is looked at while it has tuples.

    The function gets the tuples, with their seconds, and the window's last second; it gives tuples.
    """

    kind = "Slide"

    def __init__(self, name: str, size: int, windows: int, function: Callable[[Columns, int], Columns]) -> None:
        super().__init__(name, size)
        self._windows_kept = windows
        self._function = function
        self._parts: dict[int, list[Columns]] = {}

    def _add(self, window: int, columns: Columns) -> None:
        self._parts.setdefault(window, []).append(columns)

    def _close(self, window: int) -> Columns:
        seen = [part for kept, parts in sorted(self._parts.items()) if kept <= window for part in parts]
        columns = self._function(stacked(seen), (window + 1) * self._size - 1) if seen else {}
        self._parts.pop(window - self._windows_kept + 1, None)
        return columns

    def _due(self, until: int) -> int | None:
        if not self._parts:
            self._next = None
        return super()._due(until)


class Latch(WindowBox):
    """Like Tumble, with a state that goes on from window to window, also through empty ones.

    The function gets the state, the window's tuples (maybe none) and the window's first second; it gives the next
    state and tuples.
    """

    kind = "Latch"

    def __init__(
        self, name: str, size: int, state: Any, function: Callable[[Any, Columns, int], tuple[Any, Columns]]
    ) -> None:
        super().__init__(name, size)
        self._state, self._function = state, function
        self._parts: dict[int, list[Columns]] = {}

    def _add(self, window: int, columns: Columns) -> None:
        self._parts.setdefault(window, []).append(columns)

    def _close(self, window: int) -> Columns:
        tuples = stacked(self._parts.pop(window, []))
        self._state, columns = self._function(self._state, tuples, window * self._size)
        return columns


class GroupBy(Box):
    """Partitions a stream: tuples with the same key get the same number in column `group`.

    Numbers count from 0 and are given anew in each window of `size` seconds, so that they can index arrays.
    """

    kind = "GroupBy"

    def __init__(self, name: str, size: int, key: Callable[[Columns], Any]) -> None:
        super().__init__(name)
        self._size, self._key = size, key
        self._window = -1
        self._numbers = Numbering()

    def process(self, train: Train, port: int) -> Train | None:
        if not train.columns:
            return train
        windows = train.columns["second"] // self._size
        edges = np.flatnonzero(np.diff(windows)) + 1
        keys = self._key(train.columns)
        groups = []
        for start, stop in zip([0, *edges], [*edges, len(keys)], strict=True):
            if windows[start] != self._window:
                self._window = int(windows[start])
                self._numbers.clear()
            groups.append(self._numbers.of(keys[start:stop]))
        group = groups[0] if len(groups) == 1 else np.concatenate(groups)
        return Train({**train.columns, "group": group}, train.until, train.arrived)


class Resample(Box):
    """A tuple at each multiple of `period` seconds between two tuples of one key, with `value` interpolated."""

    kind = "Resample"

    def __init__(self, name: str, period: int, key: str, value: str) -> None:
        super().__init__(name)
        self._period, self._key, self._value = period, key, value
        self._last: dict[Any, tuple[int, float]] = {}

    def process(self, train: Train, port: int) -> Train | None:
        if not train.columns:
            return train
        rows: list[tuple[int, Any, float]] = []
        names = ("second", self._key, self._value)
        for second, key, value in zip(*(train.columns[name].tolist() for name in names), strict=True):
            rows += [(at, key, between) for at, between in self._between(self._last.get(key), second, value)]
            self._last[key] = (second, value)
        rows.sort(key=lambda row: row[0])
        columns = dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True)) if rows else {}
        # A point between may lie as far back as the key's last tuple.
        earliest = min((second for second, _ in self._last.values()), default=train.until)
        return Train(columns, min(train.until, earliest), train.arrived)

    def _between(self, last: tuple[int, float] | None, second: int, value: float) -> Iterator[tuple[int, float]]:
        if last is None:
            if second % self._period == 0:
                yield second, value
            return
        first = (last[0] // self._period + 1) * self._period
        for at in range(first, second + 1, self._period):
            share = (at - last[0]) / (second - last[0])
            yield at, last[1] + share * (value - last[1])
