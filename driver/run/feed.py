"""The input of a run: read minute by minute, shared out between workers, cut into batches.

Memory holds three minutes at most, whatever the length of the data set.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from driver.dataset.folder import Dataset, read_minutes
from driver.dataset.relabel import Copy, copies_of, moved_reports, moved_requests
from polling_baseline import spec
from polling_baseline.batch import INPUT_SCHEMA, REPORT_COLUMNS, REQUEST_COLUMNS, Batch, Columns, Share


@dataclass(frozen=True, slots=True)
class Minute:
    """One minute of one worker's expressways, sorted by second."""

    reports: Columns
    requests: Columns
    report_offsets: npt.NDArray[Any]
    request_offsets: npt.NDArray[Any]


class Feed:
    """Gives the batches of a span of seconds, in order.

    With `ahead`, a thread reads a minute while the one before is taken: the real clock waits for nobody.  On the
    virtual one, which stands still for the driver, that would only take the engine's processor away.
    """

    def __init__(self, dataset: Dataset, seconds: range, workers: int, ahead: bool = False) -> None:
        minutes = _minutes(dataset, seconds, workers)
        self._minutes = _Ahead(minutes) if ahead else minutes
        self._current: tuple[int, tuple[Minute, ...]] | None = None

    def take(self, seconds: range) -> Batch:
        """The batch of these seconds; they follow those taken before, and lie in one minute."""
        minute = spec.minute_of(seconds.start)
        if self._current is None or self._current[0] != minute:
            self._current = None  # room for the next one
            self._current = (minute, next(self._minutes))
        first = (minute - 1) * spec.MINUTE_S
        span = slice(seconds.start - first, seconds.stop - first)
        return Batch(seconds, tuple(_cut(share, span) for share in self._current[1]))

    def close(self) -> None:
        self._minutes.close()


class _Ahead:
    """What an iterator gives, fetched by a thread one item ahead."""

    def __init__(self, items: Iterator[tuple[Minute, ...]]) -> None:
        self._items = items
        self._fetched: queue.Queue[tuple[Minute, ...] | BaseException] = queue.Queue(maxsize=1)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._fetch, name="feed", daemon=True)
        self._thread.start()

    def __next__(self) -> tuple[Minute, ...]:
        item = self._fetched.get()
        if isinstance(item, BaseException):
            raise item
        return item

    def close(self) -> None:
        self._closed.set()
        self._thread.join()

    def _fetch(self) -> None:
        try:
            for item in self._items:
                self._put(item)
                if self._closed.is_set():
                    return
        except BaseException as failure:
            self._put(failure)

    def _put(self, item: tuple[Minute, ...] | BaseException) -> None:
        while not self._closed.is_set():
            try:
                self._fetched.put(item, timeout=0.2)
                return
            except queue.Full:
                continue


def _minutes(dataset: Dataset, seconds: range, workers: int) -> Generator[tuple[Minute, ...]]:
    """Each minute of a span of seconds, shared out between workers."""
    copies = copies_of(dataset)
    shares = [copies[worker::workers] for worker in range(workers)]
    first, last = spec.minute_of(seconds.start), spec.minute_of(seconds[-1])
    readers = {path: _Reader(read_minutes(path, first, last)) for path in {copy.path for copy in copies}}
    for minute in range(first, last + 1):
        # However many copies there are of an expressway, it is read once.
        parts = {path: _part(reader.take(minute), dataset.ignored) for path, reader in readers.items()}
        yield tuple(_minute(minute, [_moved(parts[copy.path], copy) for copy in share]) for share in shares)


class _Reader:
    """One expressway's file, a minute at a time."""

    def __init__(self, minutes: Iterator[tuple[int, pa.Table]]) -> None:
        self._minutes = minutes
        self._head = next(minutes, None)

    def take(self, minute: int) -> pa.Table | None:
        if self._head is None or self._head[0] != minute:
            return None
        table = self._head[1]
        self._head = next(self._minutes, None)
        return table


def _part(table: pa.Table | None, ignored: Sequence[int]) -> Share:
    """The reports and the requests of one expressway's minute, without requests that are ignored."""
    table = INPUT_SCHEMA.empty_table() if table is None else table
    kind = table["kind"].to_numpy()
    is_report, is_request = kind == spec.REPORT, ~np.isin(kind, [spec.REPORT, *ignored])
    return Share(
        {name: _wide(table[name].to_numpy()[is_report]) for name in REPORT_COLUMNS},
        {name: _wide(table[name].to_numpy()[is_request]) for name in REQUEST_COLUMNS},
    )


def _moved(part: Share, copy: Copy) -> Share:
    return Share(moved_reports(part.reports, copy), moved_requests(part.requests, copy))


def _minute(minute: int, parts: list[Share]) -> Minute:
    reports = _sorted([part.reports for part in parts], REPORT_COLUMNS)
    requests = _sorted([part.requests for part in parts], REQUEST_COLUMNS)
    edges = np.arange(spec.MINUTE_S + 1) + (minute - 1) * spec.MINUTE_S
    return Minute(
        reports, requests, np.searchsorted(reports["second"], edges), np.searchsorted(requests["second"], edges)
    )


def _sorted(parts: list[Columns], names: tuple[str, ...]) -> Columns:
    """Columns of all parts, by second; each part is sorted already."""
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate([part["second"] for part in parts]), kind="stable")
    return {name: np.concatenate([part[name] for part in parts])[order] for name in names}


def _wide(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Numbers of one byte as two: what a table of PostgreSQL has."""
    return column.astype(np.int16) if column.dtype == np.int8 else column


def _cut(minute: Minute, span: slice) -> Share:
    def rows(columns: Columns, offsets: npt.NDArray[Any]) -> Columns:
        part = slice(offsets[span.start], offsets[span.stop])
        return {name: column[part] for name, column in columns.items()}

    return Share(rows(minute.reports, minute.report_offsets), rows(minute.requests, minute.request_offsets))
