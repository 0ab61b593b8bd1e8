"""`dataset.json` against itself and against the files beside it: what Parquet knows without being read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from driver.dataset.expressways import RULE, is_length
from polling_baseline import spec
from polling_baseline.parquet import reading
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from driver.dataset.folder import Dataset

TRAFFIC = ("reports", "balance", "expenditure", "travel_time")
SHOWN = 60


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and _is_whole(value) and value >= 0


def _has_counts(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_count, value.values()))


def _has_files(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(file, dict) and _is_count(file.get("bytes")) and isinstance(file.get("sha256"), str)
        for file in value.values()
    )


# What each field must be, in words, and how to tell.
FIELDS: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "xways": (RULE, is_length),
    "seconds": ("a whole number from 0 on", _is_count),
    "seed": ("a whole number or null", lambda value: value is None or _is_whole(value)),
    "counts": ("an object of whole numbers from 0 on", _has_counts),
    "options": ("an object", lambda value: isinstance(value, dict)),
    "files": ("an object with bytes and sha256 of each file", _has_files),
}


def check_record(record: Mapping[str, object], file: Path) -> None:
    """Refuse a field that is missing or of the wrong type."""
    for name, (kind, is_right) in FIELDS.items():
        if name not in record:
            raise Refusal(f"{file} is damaged: it has no {name}; make the data set again")
        if not is_right(value := record[name]):
            shown = repr(value) if len(repr(value)) <= SHOWN else f"{repr(value)[:SHOWN]}..."
            raise Refusal(f"{file} is damaged: {name} must be {kind}, not {shown}; make the data set again")


def check_numbers(dataset: Dataset) -> None:
    """Refuse counts and seconds that are not those of the files."""
    file, counts = dataset.path / "dataset.json", dataset.counts
    traffic = [_metadata(path) for path in dataset.traffic.values()]
    for what, said, folder, found in (
        ("reports and requests", sum(counts.get(kind, 0) for kind in TRAFFIC), "traffic", traffic),
        ("rows of toll history", counts.get("toll_history", 0), "history/toll", map(_metadata, dataset.toll_history)),
        (
            "rows of segment history",
            counts.get("segment_history", 0),
            "history/segment",
            map(_metadata, dataset.segment_history),
        ),
    ):
        rows = sum(metadata.num_rows for metadata in found)
        if rows != said:
            raise Refusal(f"{file} says {said:,} {what}, the files in {folder} have {rows:,}; make the data set again")
    last = max((_last_second(metadata) for metadata in traffic if metadata.num_rows), default=None)
    if last is not None and spec.minute_of(last) * spec.MINUTE_S != dataset.seconds:
        raise Refusal(
            f"{file} says {dataset.seconds:,} seconds, the traffic ends in second {last:,}; make the data set again"
        )


def _metadata(path: Path) -> pq.FileMetaData:
    with reading(path):
        return pq.read_metadata(path)


def _last_second(metadata: pq.FileMetaData) -> int:
    """Of a file of traffic, whose row groups are minutes."""
    group = metadata.row_group(metadata.num_row_groups - 1)
    return int(group.column(metadata.schema.names.index("second")).statistics.max)
