"""Boxes that look at one tuple at a time, and what it is to be a box."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from polling_baseline.batch import Columns
from polling_baseline.engines.aurora.model.train import Train, stacked

Mask = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]


def taken(columns: Columns, rows: Rows) -> Columns:
    return {name: column[rows] for name, column in columns.items()}


class Box(ABC):
    """Takes a train on one of its ports; gives a train, with the promise `until` of its output, or nothing yet."""

    kind: ClassVar[str] = "Box"
    ports = 1

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def process(self, train: Train, port: int) -> Train | None:
        """What follows from a train that came in on a port."""


class Filter(Box):
    """Lets the tuples pass that the predicate is true of."""

    kind = "Filter"

    def __init__(self, name: str, predicate: Callable[[Columns], Mask]) -> None:
        super().__init__(name)
        self._predicate = predicate

    def process(self, train: Train, port: int) -> Train | None:
        if not train.columns:
            return train
        rows = np.flatnonzero(self._predicate(train.columns))
        if len(rows) == len(train):
            return train
        return Train(taken(train.columns, rows) if len(rows) else {}, train.until, train.arrived)


class Drop(Box):
    """Drops tuples at random: a share `rate` of them, or of the values of column `by`, whose tuples share one fate."""

    kind = "Drop"
    SHARES = 1 << 16

    def __init__(self, name: str, rate: float, rng: np.random.Generator, by: str | None = None) -> None:
        super().__init__(name)
        self.rate, self._rng, self._by = rate, rng, by
        # Which vehicles are unlucky: chosen once, so that a higher rate adds to those that a lower one drops.
        self._salt = np.uint64(rng.integers(1 << 62) * 2 + 1)

    def process(self, train: Train, port: int) -> Train | None:
        if not train.columns:
            return train
        rows = np.flatnonzero(~self.unlucky(train.columns))
        return Train(taken(train.columns, rows) if len(rows) else {}, train.until, train.arrived)

    def unlucky(self, columns: Columns) -> Mask:
        if self._by is None:
            return np.asarray(self._rng.random(len(columns["second"])) < self.rate)
        mixed = (columns[self._by].astype(np.uint64) + np.uint64(1)) * self._salt
        return np.asarray(mixed >> np.uint64(48) < np.uint64(round(self.rate * self.SHARES)))


class Map(Box):
    """Makes a tuple of each tuple: the function gets and gives columns."""

    kind = "Map"

    def __init__(self, name: str, function: Callable[[Columns], Columns]) -> None:
        super().__init__(name)
        self._function = function

    def process(self, train: Train, port: int) -> Train | None:
        return Train(self._function(train.columns), train.until, train.arrived) if train.columns else train


class Union(Box):
    """Several streams as one; its time is that of the slowest."""

    kind = "Union"

    def __init__(self, name: str, ports: int = 2) -> None:
        super().__init__(name)
        self.ports = ports
        self._untils = [-1] * ports

    def process(self, train: Train, port: int) -> Train | None:
        self._untils[port] = train.until
        return Train(train.columns, min(self._untils), train.arrived)


class Synchronise(Box):
    """Holds a tuple back until all other ports have promised the time that the tuple waits for.

    `awaits` gives that time for the tuples' seconds.
    """

    kind = "Synchronise"

    def __init__(self, name: str, awaits: Callable[[npt.NDArray[Any]], npt.NDArray[Any]], signals: int) -> None:
        super().__init__(name)
        self.ports = 1 + signals
        self._awaits = awaits
        self._reached = [-1] * signals
        self._held: deque[Train] = deque()

    @property
    def held(self) -> int:
        return sum(map(len, self._held))

    def process(self, train: Train, port: int) -> Train | None:
        if port:
            self._reached[port - 1] = train.until
        else:
            self._held.append(train)
        free, until = [], -1
        while self._held:
            head = self._held[0]
            ready = self._ready(head)
            if ready == len(head):
                free.append(self._held.popleft())
                until = head.until
                continue
            if ready:
                until = int(head.columns["second"][ready])
                free.append(head.part(slice(ready), until))
                self._held[0] = head.part(slice(ready, None), head.until)
            break
        if not free:
            return None
        return Train(stacked([part.columns for part in free]), until, min(part.arrived for part in free))

    def _ready(self, train: Train) -> int:
        if not train.columns:
            return 0
        return int(np.searchsorted(self._awaits(train.columns["second"]), min(self._reached), side="right"))
