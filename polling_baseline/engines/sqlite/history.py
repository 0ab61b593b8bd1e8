"""Ten weeks of history, from a data set's Parquet files into the tables of `lr_history`."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.engines.sqlite.database import insert_columns
from polling_baseline.parquet import read_columns

WEEK_MINUTES = spec.WEEK_DAYS * spec.DAY_MINUTES
Integers = npt.NDArray[np.int64]
# Says how many bytes of the files have been read.
Advance = Callable[[float], None]


def fill_history(
    connection: sqlite3.Connection, tolls: Sequence[Path], segments: Sequence[Path], advance: Advance
) -> None:
    for path in tolls:
        columns = read_columns(path, tuple(spec.TOLL_HISTORY.values()))
        order = np.lexsort((columns["xway"], columns["day"], columns["vehicle_id"]))
        insert_columns(connection, "lr_history.toll_history", {name: column[order] for name, column in columns.items()})
        advance(path.stat().st_size)
    for paths in _by_xway(segments):
        sums = SegmentSums()
        for path in paths:
            sums.add(read_columns(path, ("day", "minute", "xway", "dir", "seg", "lav", "cars")))
            advance(path.stat().st_size)
        insert_columns(connection, "lr_history.segment_average", sums.columns())


def _by_xway(segments: Sequence[Path]) -> list[list[Path]]:
    """Files whose names begin with the same expressway are added up together."""
    groups: dict[str, list[Path]] = {}
    for path in segments:
        groups.setdefault(path.name.rsplit("-week", 1)[0], []).append(path)
    return list(groups.values())


class SegmentSums:
    """Days, sum of Lav and sum of Cnt by segment and minute of the week."""

    def __init__(self) -> None:
        self._keys = np.zeros(0, np.int64)
        self._sums = np.zeros((3, 0), np.int64)

    def add(self, columns: Columns) -> None:
        segment_id = (columns["xway"].astype(np.int64) * 2 + columns["dir"]) * spec.SEGMENTS + columns["seg"]
        weekday = -columns["day"].astype(np.int64) % spec.WEEK_DAYS
        keys = segment_id * WEEK_MINUTES + weekday * spec.DAY_MINUTES + columns["minute"] - 1
        added = np.stack([np.ones(len(keys), np.int64), columns["lav"], columns["cars"]])
        self._keys, places = np.unique(np.concatenate([self._keys, keys]), return_inverse=True)
        sums = np.zeros((3, len(self._keys)), np.int64)
        for total, values in zip(sums, np.concatenate([self._sums, added], axis=1), strict=True):
            np.add.at(total, places, values)
        self._sums = sums

    def columns(self) -> Columns:
        segment_id, minute_of_week = np.divmod(self._keys, WEEK_MINUTES)
        days, lav_sum, cars_sum = self._sums
        return {
            "segment_id": segment_id,
            "minute_of_week": minute_of_week,
            "days": days,
            "lav_sum": lav_sum,
            "cars_sum": cars_sum,
        }
