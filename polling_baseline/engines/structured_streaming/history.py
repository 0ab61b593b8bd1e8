"""Ten weeks of history as arrays in files: every shard maps them, and no shard reads them whole.

Spark's tasks make them, one per file of tolls and one per expressway of segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.engines.structured_streaming.columns import taken
from polling_baseline.engines.structured_streaming.journey import MOMENTS, NO_ROW, Hours, drive_journey, moment_of
from polling_baseline.parquet import read_columns

# A toll's key: expressway, day and vehicle in one number.
VEHICLE_BITS, DAY_BITS = 31, 7


@dataclass(frozen=True, slots=True)
class History:
    """Tolls as runs of sorted keys with their amounts; of each expressway the sums of its segments' history."""

    tolls: Sequence[tuple[np.ndarray, np.ndarray]] = ()
    hours: dict[int, Hours] | None = None

    def tolls_of(self, requests: Columns) -> np.ndarray:
        """Rule 11: what each vehicle paid on a day on an expressway; 0 if there is no such row."""
        keys = toll_keys(requests)
        amounts_paid = np.zeros(len(keys), np.int64)
        for run, amounts in self.tolls if len(keys) else ():
            rows = np.flatnonzero((keys >= run[0]) & (keys <= run[-1]))
            at = np.searchsorted(run, keys[rows])
            amounts_paid[rows] = np.where(run[at] == keys[rows], amounts[at], amounts_paid[rows])
        return amounts_paid

    def travel_times(self, requests: Columns) -> Columns:
        """Rule 12, journey by journey."""
        names = ("xway", "from_seg", "to_seg", "day_of_week", "minute_of_day")
        journeys = zip(*(requests[name].tolist() for name in names), strict=True)
        times = [drive_journey((self.hours or {}).get(xway), *rest) for xway, *rest in journeys]
        seconds, tolls = np.array(times, np.int64).reshape(-1, 2).T
        return {"travel_s": seconds, "toll": tolls}


def toll_keys(columns: Columns) -> np.ndarray:
    xway, day, vehicle = (columns[name].astype(np.int64) for name in ("xway", "day", "vehicle_id"))
    return (xway << DAY_BITS | day) << VEHICLE_BITS | vehicle


def keep_tolls(source: Path, target: Path) -> None:
    """Sort a file of TollHistory into two arrays."""
    columns = read_columns(source, tuple(spec.TOLL_HISTORY.values()))
    keys = toll_keys(columns)
    if len(keys):
        order = np.argsort(keys)
        np.save(target.with_suffix(".keys.npy"), keys[order])
        np.save(target.with_suffix(".tolls.npy"), columns["tolls"][order].astype(np.int64))


def keep_segments(sources: Sequence[Path], folder: Path) -> None:
    """Add up files of SegmentHistory: all that there are of their expressways."""
    by_xway: dict[int, list[Columns]] = {}
    for source in sources:
        columns = read_columns(source, tuple(spec.SEGMENT_HISTORY.values()))
        for xway in np.unique(columns["xway"]).tolist():
            by_xway.setdefault(xway, []).append(taken(columns, columns["xway"] == xway))
    for xway, parts in by_xway.items():
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        for name, array in summed_hours(columns)._asdict().items():
            np.save(folder / f"segment-{xway}.{name}.npy", array)


def summed_hours(columns: Columns) -> Hours:
    """Days, speeds and cars of one expressway, added up by day of the week."""
    weekday = -columns["day"].astype(np.int64) % spec.WEEK_DAYS
    moment = moment_of(columns["dir"], weekday + 1, columns["minute"].astype(np.int64))
    known, row = np.unique(moment, return_inverse=True)
    cell, cells = row * spec.SEGMENTS + columns["seg"], len(known) * spec.SEGMENTS
    rows = np.full(MOMENTS, NO_ROW, np.int32)
    rows[known] = np.arange(len(known))
    # Doubles, but whole numbers below 2^53: exact.
    sums = (np.bincount(cell, weights, cells) for weights in (None, columns["lav"], columns["cars"]))
    return Hours(rows, *(total.astype(np.int64).reshape(-1, spec.SEGMENTS) for total in sums))


@lru_cache(maxsize=2)
def open_history(folder: Path) -> History:
    """The arrays in a folder, mapped once per process."""
    tolls = [
        (np.load(path, mmap_mode="r"), np.load(path.with_name(path.name.replace(".keys.", ".tolls.")), mmap_mode="r"))
        for path in sorted(folder.glob("toll-*.keys.npy"))
    ]
    hours = {
        int(path.name.split("-")[1].split(".")[0]): Hours(
            *(np.load(folder / path.name.replace("rows", name), mmap_mode="r") for name in Hours._fields)
        )
        for path in folder.glob("segment-*.rows.npy")
    }
    return History(tolls, hours)
