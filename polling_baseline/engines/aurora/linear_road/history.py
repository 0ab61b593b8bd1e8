"""Ten weeks of history, read from a data set's Parquet files and kept in arrays that workers can share.

Tolls: runs of sorted keys.  Segments: sums by day of the week and minute, which are all that a mean needs.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.parquet import read_columns
from polling_baseline.scratch import scratch

Integers = npt.NDArray[Any]
# A toll's key: day, vehicle and expressway in one number.
VEHICLE_BITS, XWAY_BITS = 31, 10
MOMENTS = 2 * spec.WEEK_DAYS * spec.DAY_MINUTES
SUMS = ("days", "lav", "cars")
Sums = dict[str, Integers]
# Shows how much has been read, and gives the function that says so.
Progress = Callable[[], AbstractContextManager[Callable[[float], None]]]


@dataclass(frozen=True, slots=True)
class TollRun:
    keys: Integers
    tolls: Integers


@dataclass(frozen=True, slots=True)
class History:
    """Toll history as runs of sorted keys; for each expressway that has any, what SegmentSums gives."""

    tolls: tuple[TollRun, ...]
    sums: dict[int, Sums]

    def tolls_of(self, vehicles: Integers, days: Integers, xways: Integers) -> Integers:
        """What each vehicle paid on a day on an expressway; 0 if there is no such row."""
        keys = toll_key(vehicles, days, xways)
        tolls = np.zeros(len(keys), np.int64)
        for run in self.tolls:
            rows = np.flatnonzero((keys >= run.keys[0]) & (keys <= run.keys[-1]))
            if len(rows):
                at = np.searchsorted(run.keys, keys[rows])
                tolls[rows] = np.where(run.keys[at] == keys[rows], run.tolls[at], tolls[rows])
        return tolls


EMPTY = History((), {})


def toll_key(vehicles: Integers, days: Integers, xways: Integers) -> npt.NDArray[np.int64]:
    return ((days.astype(np.int64) << VEHICLE_BITS | vehicles) << XWAY_BITS) | xways


def toll_run(columns: Columns) -> TollRun:
    keys = toll_key(columns["vehicle_id"], columns["day"], columns["xway"])
    tolls = columns["tolls"]
    if (keys[1:] <= keys[:-1]).any():
        order = np.argsort(keys)
        keys, tolls = keys[order], tolls[order]
    return TollRun(keys, tolls)


class SegmentSums:
    """SegmentHistory of one expressway: days, sum of Lav and sum of Cnt by direction, day of the week, minute, segment.

    A moment (direction, day of the week, minute) that has any row has a place, given by `index`, with all segments.
    """

    def __init__(self) -> None:
        self.index = np.full(MOMENTS, -1, np.int32)
        self._sums = np.zeros((len(SUMS), 0), np.int64)

    def add(self, columns: Columns) -> None:
        moment = moment_of(columns["dir"].astype(np.int64), -columns["day"] % spec.WEEK_DAYS, columns["minute"] - 1)
        present = np.zeros(MOMENTS, bool)
        present[moment] = True
        new = np.flatnonzero(present & (self.index < 0))
        places = self._sums.shape[1] // spec.SEGMENTS
        self.index[new] = places + np.arange(len(new))
        more = np.zeros((len(SUMS), len(new) * spec.SEGMENTS), np.int64)
        self._sums = np.concatenate([self._sums, more], axis=1)
        cell = self.index[moment] * spec.SEGMENTS + columns["seg"]
        # Doubles, but whole numbers below 2^53: exact.
        for total, weights in zip(self._sums, (None, columns["lav"], columns["cars"]), strict=True):
            total += np.bincount(cell, weights, len(total)).astype(np.int64)

    def arrays(self) -> Sums:
        """In few bytes, and of the same types unless the numbers are out of the ordinary."""
        days, lav, cars = self._sums
        small = self._sums.max(initial=0) < 2**31
        wide = np.int32 if small else np.int64
        return {"index": self.index, "days": days.astype(np.int16), "lav": lav.astype(wide), "cars": cars.astype(wide)}


def moment_of(way: Any, weekday: Any, minute: Any) -> Any:
    """Direction, day of the week and minute of the day, both counted from 0, as one number."""
    return (way * spec.WEEK_DAYS + weekday) * spec.DAY_MINUTES + minute


def add_segments(columns: Columns, into: dict[int, SegmentSums]) -> None:
    for xway in np.unique(columns["xway"]).tolist():
        rows = columns["xway"] == xway
        part = columns if rows.all() else {name: column[rows] for name, column in columns.items()}
        into.setdefault(xway, SegmentSums()).add(part)


class Archive:
    """A data set's history: its files, and where their arrays are kept while an engine lives."""

    def __init__(self, tolls: Sequence[Path], segments: Sequence[Path], progress: Progress | None = None) -> None:
        self._tolls, self._segments = tolls, segments
        self._progress: Progress = progress or (lambda: nullcontext(lambda _: None))
        self.folder: Path | None = None

    def load(self) -> History:
        """Read the files; the arrays lie in files of their own, which every process can map."""
        if self.folder is None:
            self.folder = scratch("history")
            with self._progress() as self._advance, ThreadPoolExecutor() as pool:
                list(pool.map(self._keep_tolls, range(len(self._tolls)), self._tolls))
                list(pool.map(self._keep_segments, self._by_xway()))
        return opened(self.folder)

    def close(self) -> None:
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None

    def _keep_tolls(self, number: int, path: Path) -> None:
        columns = read_columns(path, ("vehicle_id", "day", "xway", "tolls"))
        assert self.folder is not None
        if len(columns["day"]):
            run = toll_run(columns)
            np.save(self.folder / f"toll-{number:05d}-keys.npy", run.keys)
            np.save(self.folder / f"toll-{number:05d}-tolls.npy", run.tolls)
        self._advance(path.stat().st_size)

    def _by_xway(self) -> list[list[Path]]:
        """Files whose names begin with the same expressway are added up together."""
        groups: dict[str, list[Path]] = {}
        for path in self._segments:
            groups.setdefault(path.name.rsplit("-week", 1)[0], []).append(path)
        return list(groups.values())

    def _keep_segments(self, paths: list[Path]) -> None:
        sums: dict[int, SegmentSums] = {}
        for path in paths:
            add_segments(read_columns(path, ("day", "minute", "xway", "dir", "seg", "lav", "cars")), sums)
            self._advance(path.stat().st_size)
        assert self.folder is not None
        for xway, segment_sums in sums.items():
            for name, column in segment_sums.arrays().items():
                np.save(self.folder / f"segment-{xway:04d}-{name}.npy", column)


class SmallHistory:
    """A small history at hand: {(VID, Day, XWay): Tolls} and rows of SegmentHistory."""

    def __init__(self, tolls: dict[tuple[int, int, int], int], segments: Sequence[Sequence[int]]) -> None:
        runs: tuple[TollRun, ...] = ()
        if tolls:
            vehicle, day, xway = np.array(list(tolls), np.int64).T
            columns = {"vehicle_id": vehicle, "day": day, "xway": xway, "tolls": np.array(list(tolls.values()))}
            runs = (toll_run(columns),)
        sums: dict[int, SegmentSums] = {}
        if segments:
            add_segments(dict(zip(spec.SEGMENT_HISTORY.values(), np.array(segments, np.int64).T, strict=True)), sums)
        self._history = History(runs, {xway: segment_sums.arrays() for xway, segment_sums in sums.items()})

    def load(self) -> History:
        return self._history

    def close(self) -> None:
        pass


def opened(folder: Path) -> History:
    """The arrays of a folder, mapped."""

    def array(path: Path) -> Integers:
        # Copy on write: nobody writes, but compiled code has another form for what cannot be written.
        return np.asarray(np.load(path, mmap_mode="c"))

    runs = [
        TollRun(array(path), array(path.with_name(path.name.replace("keys", "tolls"))))
        for path in sorted(folder.glob("toll-*-keys.npy"))
    ]
    sums: dict[int, Sums] = {}
    for path in sorted(folder.glob("segment-*.npy")):
        _, xway, name = path.stem.split("-")
        sums.setdefault(int(xway), {})[name] = array(path)
    return History(tuple(runs), sums)
