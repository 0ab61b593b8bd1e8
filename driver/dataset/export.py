"""A data set becomes the classical flat files again: `xway-000.csv` and so on, and the history as CSV beside them.

Importing them, in the order of their names, gives the same traffic and history, byte for byte.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from driver.dataset.folder import Dataset, read_minutes
from driver.progress import Advance, progress
from polling_baseline import spec
from polling_baseline.batch import INPUT_SCHEMA
from polling_baseline.files import complete_folder
from polling_baseline.parquet import reading
from polling_baseline.refusal import Refusal

BARE = pa.csv.WriteOptions(include_header=False, quoting_style="none")
NAMES = re.compile(r"(xway-\d{3,}|toll-history|segment-history)\.csv(\.gz)?")
TOLL_NAME, SEGMENT_NAME = "toll-history.csv", "segment-history.csv"


def export(dataset: Dataset, out: Path, packed: bool, force: bool) -> list[Path]:
    """Write the files of a data set, and give their paths; `out` appears when all are complete."""
    groups = dataset.traffic.values(), dataset.toll_history, dataset.segment_history
    total = sum(path.stat().st_size for group in groups for path in group)
    with _new_export(out, force) as folder, progress("export", max(total, 1)) as advance:
        for xway, path in dataset.traffic.items():
            tables = (table for _, table in read_minutes(path))
            _write(folder / f"xway-{xway:03d}.csv", packed, INPUT_SCHEMA, tables)
            advance(path.stat().st_size)
        export_history(dataset, folder, advance, packed)
    return sorted(out.iterdir())


def export_history(dataset: Dataset, folder: Path, advance: Advance, packed: bool = False) -> None:
    """Write the history of a data set, if it has one, as two files of CSV."""
    for name, paths, fields in (
        (TOLL_NAME, dataset.toll_history, spec.TOLL_HISTORY),
        (SEGMENT_NAME, dataset.segment_history, spec.SEGMENT_HISTORY),
    ):
        if paths:
            schema = pq.read_schema(paths[0])
            assert schema.names == list(fields.values())
            _write(folder / name, packed, schema, _row_groups(paths, advance))


def _row_groups(paths: list[Path], advance: Advance) -> Iterator[pa.Table]:
    for path in paths:
        with reading(path), pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                yield file.read_row_group(group)
        advance(path.stat().st_size)


def _write(path: Path, packed: bool, schema: pa.Schema, tables: Iterator[pa.Table]) -> None:
    path = path.with_name(path.name + ".gz") if packed else path
    with (
        gzip.open(path, "wb", compresslevel=1) if packed else path.open("wb") as out,
        pa.csv.CSVWriter(out, schema, write_options=BARE) as writer,
    ):
        for table in tables:
            writer.write_table(table)


@contextmanager
def _new_export(path: Path, force: bool) -> Iterator[Path]:
    """Give an empty folder that takes the name `path` when the block ends well, and vanishes otherwise."""
    if path.exists():
        if not path.is_dir():
            raise Refusal(f"{path} is a file; choose another name")
        inside = [entry.name for entry in path.iterdir()]
        if inside and not force:
            raise Refusal(f"{path} exists; choose another name or add --force to replace it")
        if other := [name for name in inside if not NAMES.fullmatch(name)]:
            raise Refusal(f"{path} holds more than an export ({other[0]}), so it is not replaced; choose another name")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with complete_folder(path) as folder:
            yield folder
    except OSError as error:
        raise Refusal(f"cannot write {path}: {error.strerror or error}") from error
