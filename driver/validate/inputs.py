"""The input lines that some answers belong to, found in the traffic of a data set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from driver.dataset.folder import Dataset
from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.parquet import reading


@dataclass(frozen=True, slots=True, order=True)
class Report:
    """What one report says, by Time."""

    second: int
    xway: int
    dir: int
    seg: int
    lane: int
    line: str

    @property
    def place(self) -> int:
        return (self.xway * 2 + self.dir) * spec.SEGMENTS + self.seg


# Kind, VID of a report or QID of a request, and Time.
Key = tuple[int, int, int]
Line = tuple[int, ...]
# A vehicle that was not heard of for so long is forgotten.
LOOK_BACK_S = 600


def find_inputs(dataset: Dataset, keys: Collection[Key]) -> dict[Key, Line]:
    """The fields of these inputs, as far as there are such; those of the distinct expressways."""
    inputs: dict[Key, Line] = {}
    if not keys:
        return inputs
    seconds, ids = (np.unique([key[at] for key in keys]) for at in (2, 1))
    spans = [(second, second) for second in seconds.tolist()]
    wanted = set(keys)
    for path in sorted(set(dataset.traffic.values())):
        for rows in rows_of(path, spans):
            is_report = rows["kind"] == spec.REPORT
            id = np.where(is_report, rows["vehicle_id"], rows["query_id"])
            near = np.flatnonzero(np.isin(rows["second"], seconds) & np.isin(id, ids))
            for row in near.tolist():
                key = int(rows["kind"][row]), int(id[row]), int(rows["second"][row])
                if key in wanted:
                    inputs.setdefault(key, tuple(int(rows[name][row]) for name in spec.FIELDS.values()))
    return inputs


def reports_of(dataset: Dataset, moments: Collection[tuple[int, int]]) -> dict[int, list[Report]]:
    """The reports of vehicles, given with a Time each, until then and some minutes before, by Time."""
    reports_by_vehicle: dict[int, list[Report]] = defaultdict(list)
    vehicles = np.unique([vehicle for vehicle, _ in moments])
    spans = [(second - LOOK_BACK_S, second) for _, second in moments]
    for path in sorted(set(dataset.traffic.values())) if moments else ():
        for rows in rows_of(path, spans):
            ours = (rows["kind"] == spec.REPORT) & np.isin(rows["vehicle_id"], vehicles)
            for row in np.flatnonzero(ours).tolist():
                fields = {name: int(rows[name][row]) for name in spec.FIELDS.values()}
                place = {name: fields[name] for name in ("second", "xway", "dir", "seg", "lane")}
                reports_by_vehicle[fields["vehicle_id"]].append(Report(**place, line=_text(fields)))
    return {vehicle: sorted(reports) for vehicle, reports in reports_by_vehicle.items()}


def _text(fields: dict[str, int]) -> str:
    return ",".join(map(str, fields.values()))


def rows_of(path: Path, spans: Collection[tuple[int, int]]) -> Iterator[Columns]:
    """Those parts of a file that have rows of some spans of seconds, the first and the last of each given."""
    with reading(path), pq.ParquetFile(path) as file:
        column = file.schema_arrow.get_field_index("second")
        for group in range(file.num_row_groups):
            known = file.metadata.row_group(group).column(column).statistics
            if any(known.max >= first and known.min <= last for first, last in spans):
                table: pa.Table = file.read_row_group(group, use_threads=False)
                yield {name: table[name].to_numpy() for name in spec.FIELDS.values()}
