"""All faults in one file, CSV or Parquet, written in parts by Spark's tasks and put together in the order of time."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from driver.validate.faults import Fault, find_faults, sources_of, with_evidence
from driver.validate.judge import Judgement
from polling_baseline.batch import Columns
from polling_baseline.files import complete_file, partial_folder
from polling_baseline.refusal import Refusal

COLUMNS = Fault._fields
NUMBERS = ("time", "id", "cars", "lav")
SCHEMA = pa.schema([(name, pa.int64() if name in NUMBERS else pa.string()) for name in COLUMNS])
PARQUET = ".parquet"


def write_faults(judgement: Judgement, path: Path) -> None:
    """All faults by time; as Parquet if the name ends so."""
    write = _write_parquet if path.suffix == PARQUET else _write_csv
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial_folder(path) as folder, complete_file(path) as whole:
            parts = _parts(judgement, folder, path.suffix == PARQUET)
            write(whole, parts)
    except OSError as error:
        raise Refusal(f"cannot write {path}: {error.strerror}") from None


def _parts(judgement: Judgement, folder: Path, parquet: bool) -> list[Path]:
    if judgement.comparison is None:
        return []
    context = judgement.right.spark.sparkContext
    sources = context.broadcast(sources_of(judgement))

    def write(number: int, tallied: Columns, expected: Columns, came: Columns) -> Path:
        faults = with_evidence(sources.value, find_faults(tallied, expected, came))
        part = folder / str(number)
        if parquet:
            columns = zip(*faults, strict=True) if faults else [[] for _ in COLUMNS]
            arrays = [pa.array(column, kind) for column, kind in zip(columns, SCHEMA.types, strict=True)]
            pq.write_table(pa.Table.from_arrays(arrays, schema=SCHEMA), part)
        else:
            with part.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows(faults)
        return part

    parts = judgement.comparison.each(write)
    sources.unpersist()
    return parts


def _write_csv(whole: Any, parts: Sequence[Path]) -> None:
    whole.write((",".join(COLUMNS) + "\n").encode())
    for part in parts:
        with part.open("rb") as piece:
            shutil.copyfileobj(piece, whole)


def _write_parquet(whole: Any, parts: Sequence[Path]) -> None:
    with pq.ParquetWriter(whole, SCHEMA, compression="zstd") as writer:
        for part in parts:
            writer.write_table(pq.read_table(part))
