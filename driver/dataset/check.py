"""`dataset.json` against itself and against the files beside it: what Parquet knows without being read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from driver.dataset.expressways import RULE, is_length
from driver.json_record import must_be
from polling_baseline import spec
from polling_baseline.parquet import reading
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from driver.dataset.folder import Dataset, DatasetInfo

TRAFFIC = ("reports", "balance", "expenditure", "travel_time")
REMEDY = "make the data set again"


def check_values(info: DatasetInfo, file: Path) -> None:
    """Refuse numbers that no data set has."""
    counts = {"seconds": info["seconds"], **{f"counts.{name}": count for name, count in info["counts"].items()}}
    faults = [must_be(name, "0 or more", number) for name, number in counts.items() if number < 0]
    if not is_length(info["xways"]):
        faults.append(must_be("xways", RULE, info["xways"]))
    if faults:
        raise Refusal(f"{file} is damaged: {faults[0]}; {REMEDY}")


def check_numbers(dataset: Dataset) -> None:
    """Refuse counts and seconds that are not those of the files."""
    file, counts = dataset.path / "dataset.json", dataset.counts
    traffic = [_metadata(path) for path in dataset.traffic.values()]
    for what, declared, folder, footers in (
        ("reports and requests", sum(counts.get(kind, 0) for kind in TRAFFIC), "traffic", traffic),
        ("rows of toll history", counts.get("toll_history", 0), "history/toll", map(_metadata, dataset.toll_history)),
        (
            "rows of segment history",
            counts.get("segment_history", 0),
            "history/segment",
            map(_metadata, dataset.segment_history),
        ),
    ):
        rows = sum(footer.num_rows for footer in footers)
        if rows != declared:
            raise Refusal(f"{file} says {declared:,} {what}, the files in {folder} have {rows:,}; {REMEDY}")
    last = max((_last_second(metadata) for metadata in traffic if metadata.num_rows), default=None)
    if last is not None and spec.minute_of(last) * spec.MINUTE_S != dataset.seconds:
        raise Refusal(f"{file} says {dataset.seconds:,} seconds, the traffic ends in second {last:,}; {REMEDY}")


def _metadata(path: Path) -> pq.FileMetaData:
    with reading(path):
        return pq.read_metadata(path)


def _last_second(metadata: pq.FileMetaData) -> int:
    """Of a file of traffic, whose row groups are minutes."""
    group = metadata.row_group(metadata.num_row_groups - 1)
    return int(group.column(metadata.schema.names.index("second")).statistics.max)
