"""A slice of the vehicles: their reports in the order of their trips, and what rules 1, 5 and 9 say of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from driver.dataset.folder import Dataset
from polling_baseline import spec
from polling_baseline.batch import REPORT_COLUMNS, REQUEST_COLUMNS, Columns
from polling_baseline.parquet import read_groups, reading

# A task takes so many rows at most, and is worth its while from so many on.
MOST_ROWS, LEAST_ROWS = 6_000_000, 500_000
# More periods of 30 s than a run has: those of two phases of a vehicle are never one apart.
PERIODS = 512
FIELDS = tuple(dict.fromkeys(("kind", *REPORT_COLUMNS, *REQUEST_COLUMNS)))


@dataclass(frozen=True, slots=True)
class Slice:
    """Every `of`-th vehicle of some files, beginning with number `part`."""

    files: Sequence[Path]
    part: int
    of: int
    seconds: range


@dataclass(frozen=True, slots=True)
class Trips:
    """Reports by vehicle, Time mod 30 and Time: the one of 30 s earlier, if there is one, stands right before."""

    reports: Columns
    # Rule 1: whether a report continues the trip of the one before it.
    follows: npt.NDArray[np.bool_]
    # Whether its vehicle has trips of several phases, which can come between one another.
    mixed: npt.NDArray[np.bool_]

    def same_as_before(self, *names: str) -> npt.NDArray[np.bool_]:
        """Whether a report and the one before it in its trip agree in all of these."""
        same = self.follows.copy()
        for name in names:
            same[1:] &= self.reports[name][1:] == self.reports[name][:-1]
        return same


def slices_of(dataset: Dataset, seconds: range, tasks: int) -> list[Slice]:
    """Slices of all vehicles; each of them is in one slice with all its reports."""
    files = sorted(set(dataset.traffic.values()))
    groups = _large_enough(_sharing_vehicles(files))
    slices = []
    for group, rows in groups:
        of = max(1, ceil(rows / MOST_ROWS), min(ceil(tasks / len(groups)), rows // LEAST_ROWS))
        slices += [Slice(group, part, of, seconds) for part in range(of)]
    return slices


def _sharing_vehicles(files: Sequence[Path]) -> list[tuple[list[Path], int]]:
    """The files in groups that have no vehicle in common, each group with its number of rows."""
    spans = sorted((*_vehicles_in(path), path) for path in files)
    groups: list[tuple[list[Path], int]] = []
    reach = -1
    for lowest, highest, rows, path in spans:
        if groups and lowest <= reach:
            groups[-1][0].append(path)
            groups[-1] = groups[-1][0], groups[-1][1] + rows
        else:
            groups.append(([path], rows))
        reach = max(reach, highest)
    return groups


def _large_enough(groups: Sequence[tuple[list[Path], int]]) -> list[tuple[list[Path], int]]:
    """Small groups put together, so that each is worth a task."""
    merged: list[tuple[list[Path], int]] = []
    for files, rows in groups:
        if merged and merged[-1][1] + rows <= LEAST_ROWS:
            merged[-1] = merged[-1][0] + files, merged[-1][1] + rows
        else:
            merged.append((files, rows))
    return merged


def _vehicles_in(path: Path) -> tuple[int, int, int]:
    """The lowest and the highest VID of a file, as far as its statistics tell, and how many rows it has."""
    with reading(path), pq.ParquetFile(path) as file:
        meta = file.metadata
        column = file.schema_arrow.get_field_index("vehicle_id")
        known = [meta.row_group(number).column(column).statistics for number in range(meta.num_row_groups)]
        if not all(part and part.has_min_max for part in known):
            return 0, spec.MAX_VEHICLE_ID, meta.num_rows
        return min((part.min for part in known), default=0), max((part.max for part in known), default=0), meta.num_rows


def read_slice(part: Slice) -> tuple[Columns, Columns]:
    """The reports of a slice; and all requests of its files, with the expressway in whose file they stand as `home`.

    The requests are those of every vehicle in the first slice, and none in the others.
    """
    reports: list[Columns] = []
    requests: list[Columns] = []
    for path in part.files:
        home = int(re.search(r"\d+", path.name)[0])  # type: ignore[index]
        for rows in read_groups(path, FIELDS):
            inside = (rows["second"] >= part.seconds.start) & (rows["second"] < part.seconds.stop)
            is_report = rows["kind"] == spec.REPORT
            ours = inside & is_report & (rows["vehicle_id"] % part.of == part.part)
            reports.append(_where(ours, rows, REPORT_COLUMNS))
            if part.part == 0:
                asked = _where(inside & ~is_report, rows, REQUEST_COLUMNS)
                requests.append({**asked, "home": np.full(len(asked["kind"]), home)})
    return joined(reports, REPORT_COLUMNS), joined(requests, (*REQUEST_COLUMNS, "home"))


def _where(rows: npt.NDArray[np.bool_], columns: Columns, names: Sequence[str]) -> Columns:
    return {name: columns[name][rows] for name in names}


def joined(parts: Sequence[Columns], names: Sequence[str]) -> Columns:
    empty = np.zeros(0, np.int64)
    return {name: np.concatenate([part[name] for part in parts]) if parts else empty for name in names}


def trips_of(reports: Columns) -> Trips:
    second, vehicle = reports["second"].astype(np.int64), reports["vehicle_id"].astype(np.int64)
    key = vehicle * spec.REPORT_PERIOD_S + second % spec.REPORT_PERIOD_S
    key = key * PERIODS + second // spec.REPORT_PERIOD_S
    # Of a slice, each of these is tens of megabytes.
    del second, vehicle
    order = np.argsort(key, kind="stable")
    key = key[order]
    ordered = {name: column[order] for name, column in reports.items()}
    follows = np.zeros(len(key), bool)
    follows[1:] = key[1:] == key[:-1] + 1
    return Trips(ordered, follows, _mixed(ordered["vehicle_id"], key))


def _mixed(vehicle: npt.NDArray[np.int32], key: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    if not len(vehicle):
        return np.zeros(0, bool)
    first = np.flatnonzero(np.r_[True, vehicle[1:] != vehicle[:-1]])
    last = np.r_[first[1:], len(vehicle)] - 1
    return np.repeat(key[first] // PERIODS != key[last] // PERIODS, last - first + 1)


def crossings_of(trips: Trips) -> Columns:
    """Rule 5: the reports that are to be notified, and rule 9: the second at which the trip has left the segment.

    That second is -1 if the trip ends in the segment.
    """
    report = trips.reports
    entered = np.flatnonzero(~trips.same_as_before("seg"))
    left = np.full(len(entered), -1, np.int64)
    goes_on = trips.follows[entered[1:]]
    left[:-1] = np.where(goes_on, report["second"][entered[1:]], -1)
    on_road = report["lane"][entered] != spec.EXIT_LANE
    at = entered[on_road]
    return {
        "vehicle_id": report["vehicle_id"][at],
        "second": report["second"][at],
        "place": place_of(report)[at],
        "left_second": left[on_road],
    }


def place_of(columns: Columns) -> npt.NDArray[np.int64]:
    """XWay, Dir and Seg as one number."""
    return (columns["xway"].astype(np.int64) * 2 + columns["dir"]) * spec.SEGMENTS + columns["seg"]
