"""A data set as other kits see it: reports and requests one by one, in the order of time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

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
    """Everything that a kit's rules look at; `vehicles` has each vehicle's reports in the order of time."""

    reports: list[Report]
    requests: list[Request]
    tolls_of_history: dict[tuple[int, int, int], int]
    vehicles: dict[int, list[Report]] = field(default_factory=dict)


def read_road(dataset: Dataset, seconds: range) -> RoadView:
    """The part of a data set that lies in these seconds, and the tolls that requests of it ask for."""
    rows = (row for table in _tables(dataset, seconds, reports=True) for row in _rows(table, REPORT_COLUMNS))
    reports = sorted(map(Report._make, rows), key=lambda report: (report.second, report.vehicle))
    requests = read_requests(dataset, seconds)
    vehicles: dict[int, list[Report]] = defaultdict(list)
    for report in reports:
        vehicles[report.vehicle].append(report)
    return RoadView(reports, requests, _tolls(dataset, requests), dict(vehicles))


def read_requests(dataset: Dataset, seconds: range) -> list[Request]:
    rows = (row for table in _tables(dataset, seconds, reports=False) for row in _rows(table, REQUEST_COLUMNS))
    return sorted(map(Request._make, rows), key=lambda request: (request.second, request.query))


def _tables(dataset: Dataset, seconds: range, reports: bool) -> Iterator[pa.Table]:
    """The reports or the requests of each expressway."""
    for file in dataset.traffic.values():
        is_report = pc.equal if reports else pc.not_equal
        yield pq.read_table(
            file,
            filters=(pc.field("second") >= seconds.start)
            & (pc.field("second") < seconds.stop)
            & is_report(pc.field("kind"), pa.scalar(spec.REPORT, pa.int8())),
        )


REPORT_COLUMNS = ("second", "vehicle_id", "speed_mph", "xway", "lane", "dir", "seg", "position_ft")
REQUEST_COLUMNS = ("kind", "second", "vehicle_id", "query_id", "xway", "day")


def _rows(table: pa.Table, names: Iterable[str]) -> Iterator[tuple[int, ...]]:
    return zip(*(table[name].to_pylist() for name in names), strict=True)


def _tolls(dataset: Dataset, requests: list[Request]) -> dict[tuple[int, int, int], int]:
    """(vehicle, day, expressway) and what it paid there, of those that are asked for."""
    asked = {(one.vehicle, one.day, one.xway) for one in requests if one.kind == spec.EXPENDITURE}
    tolls_paid: dict[tuple[int, int, int], int] = {}
    for file in sorted((dataset.path / "history" / "toll").glob("*.parquet")) if asked else []:
        for vehicle, day, xway, tolls in _rows(pq.read_table(file), ("vehicle_id", "day", "xway", "tolls")):
            if (vehicle, day, xway) in asked:
                tolls_paid[vehicle, day, xway] = tolls
    return tolls_paid
