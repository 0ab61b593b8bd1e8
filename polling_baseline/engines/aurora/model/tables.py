"""Boxes that read and write the tables that a network's boxes share."""

from __future__ import annotations

from collections.abc import Callable

from polling_baseline.batch import Columns
from polling_baseline.engines.aurora.model.box import Box
from polling_baseline.engines.aurora.model.train import Train, joined


class TableRead(Box):
    """Adds to each tuple what the table says of it."""

    kind = "Read"

    def __init__(self, name: str, table: str, read: Callable[[Columns], Columns]) -> None:
        super().__init__(name)
        self.table, self._read = table, read

    def process(self, train: Train, port: int) -> Train | None:
        if not train.columns:
            return train
        return Train({**train.columns, **self._read(train.columns)}, train.until, train.arrived)


class TableWrite(Box):
    """Enters each tuple into the table and passes it on; who waits for its promise finds it there."""

    kind = "Write"

    def __init__(self, name: str, table: str, write: Callable[[Columns], None]) -> None:
        super().__init__(name)
        self.table, self._write = table, write

    def process(self, train: Train, port: int) -> Train | None:
        if train.columns:
            self._write(train.columns)
        return train


class Exchange(Box):
    """Asks the other networks of the same engine about its tuples, and lets them pass with their replies.

    `asks` names the columns that a question has; `merge` gets the tuples, and for each other network a row per tuple.
    """

    kind = "Exchange"

    def __init__(self, name: str, asks: tuple[str, ...], merge: Callable[[Columns, list[Columns]], Columns]) -> None:
        super().__init__(name)
        self._asks, self._merge = asks, merge
        self._waiting: list[Train] = []

    def process(self, train: Train, port: int) -> Train | None:
        self._waiting.append(train)
        return None

    def question(self) -> Columns:
        """What to ask the others; no columns if there is nothing."""
        columns = joined(self._waiting).columns if self._waiting else {}
        return {name: columns[name] for name in self._asks} if columns else {}

    def resolve(self, replies: list[Columns]) -> Train | None:
        """The tuples asked about, now that all others have spoken."""
        if not self._waiting:
            return None
        train, self._waiting = joined(self._waiting), []
        return Train(self._merge(train.columns, replies) if train.columns else {}, train.until, train.arrived)
