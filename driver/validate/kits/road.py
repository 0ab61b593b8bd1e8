"""A data set as other kits see it: reports and requests one by one, in the order of time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from driver.dataset.folder import Dataset
from polling_baseline import spec

Segment = tuple[int, int, int]


class Report(NamedTuple):
    second: int
    vehicle: int
    speed: int
    xway: int
    lane: int
    dir: int
    seg: int
    position: int

    @property
    def segment(self) -> Segment:
        return self.xway, self.dir, self.seg

    @property
    def minute(self) -> int:
        return self.second // spec.MINUTE_S + 1


class Request(NamedTuple):
    kind: int
    second: int
    vehicle: int
    query: int
    xway: int
    day: int


@dataclass(frozen=True, slots=True)
class RoadView:
    """Everything that a kit's rules look at; `vehicles` has each vehicle's reports in the order of time.

    `standing` are the reports at speed 0; also later ones, where only the first minutes are looked at.
    """

    reports: list[Report]
    requests: list[Request]
    tolls_of_history: dict[tuple[int, int, int], int]
    vehicles: dict[int, list[Report]] = field(default_factory=dict)
    standing: list[Report] = field(default_factory=list)


def read_road(dataset: Dataset, seconds: range, last: int | None = None) -> RoadView:
    """The part of a data set that lies in these seconds, and the tolls that requests of it ask for.

    With `last`, reports at speed 0 are read up to that second.
    """
    reports = _reports(dataset, seconds, pc.scalar(True))
    requests = read_requests(dataset, seconds)
    vehicles: dict[int, list[Report]] = defaultdict(list)
    for report in reports:
        vehicles[report.vehicle].append(report)
    standing = [report for report in reports if report.speed == 0]
    if last is not None:
        standing += _reports(dataset, range(seconds.stop, last), pc.equal(pc.field("speed_mph"), 0))
    return RoadView(reports, requests, _tolls(dataset, requests), dict(vehicles), standing)


def read_requests(dataset: Dataset, seconds: range) -> list[Request]:
    tables = _tables(dataset, seconds, pc.not_equal(pc.field("kind"), IS_REPORT), REQUEST_COLUMNS)
    rows = (row for table in tables for row in _rows(table, REQUEST_COLUMNS))
    return sorted(map(Request._make, rows), key=lambda request: (request.second, request.query))


def report_seconds(dataset: Dataset, seconds: range) -> np.ndarray:
    """The second of each report, in no order."""
    tables = _tables(dataset, seconds, pc.equal(pc.field("kind"), IS_REPORT), ("second",))
    return np.concatenate([table["second"].to_numpy() for table in tables])


def _reports(dataset: Dataset, seconds: range, condition: pc.Expression) -> list[Report]:
    """Those that fulfil a condition, by time."""
    tables = _tables(dataset, seconds, pc.equal(pc.field("kind"), IS_REPORT) & condition, REPORT_COLUMNS)
    rows = (row for table in tables for row in _rows(table, REPORT_COLUMNS))
    return sorted(map(Report._make, rows), key=lambda report: (report.second, report.vehicle))


def _tables(dataset: Dataset, seconds: range, condition: pc.Expression, columns: Sequence[str]) -> Iterator[pa.Table]:
    """The tuples of each expressway that fulfil a condition."""
    in_time = (pc.field("second") >= seconds.start) & (pc.field("second") < seconds.stop)
    for file in dataset.traffic.values():
        yield pq.read_table(file, columns=list(columns), filters=in_time & condition)


IS_REPORT = pa.scalar(spec.REPORT, pa.int8())
REPORT_COLUMNS = ("second", "vehicle_id", "speed_mph", "xway", "lane", "dir", "seg", "position_ft")
HISTORY_COLUMNS = ("vehicle_id", "day", "xway", "tolls")
REQUEST_COLUMNS = ("kind", "second", "vehicle_id", "query_id", "xway", "day")


def _rows(table: pa.Table, names: Iterable[str]) -> Iterator[tuple[int, ...]]:
    return zip(*(table[name].to_pylist() for name in names), strict=True)


def _tolls(dataset: Dataset, requests: list[Request]) -> dict[tuple[int, int, int], int]:
    """(vehicle, day, expressway) and what it paid there, of those that are asked for."""
    asked = {(one.vehicle, one.day, one.xway) for one in requests if one.kind == spec.EXPENDITURE}
    is_asking = pc.field("vehicle_id").isin(sorted({vehicle for vehicle, _, _ in asked}))
    tolls_paid: dict[tuple[int, int, int], int] = {}
    for file in sorted((dataset.path / "history" / "toll").glob("*.parquet")) if asked else []:
        for vehicle, day, xway, tolls in _rows(pq.read_table(file, filters=is_asking), HISTORY_COLUMNS):
            if (vehicle, day, xway) in asked:
                tolls_paid[vehicle, day, xway] = tolls
    return tolls_paid
