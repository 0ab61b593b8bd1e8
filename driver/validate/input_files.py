"""Files as tables of Spark.  A path is taken as it is, whatever it is called.

Spark itself expands wildcards in it, and passes over files whose names begin with `_` or `.`.  So only Parquet files,
which have names of ours, are left to it, by their folder and with wildcards turned off; flat files are read by tasks in
Python.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from driver.dataset.packed_file import BYTE_ORDER_MARK, is_packed, opened
from driver.spark.java import path_for_java

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Spark's own readers of JSON and CSV turn wildcards off by this name.  It works for one path: of several, each that
# looks like a pattern would be read as often as there are such.
AS_IT_IS = {"__globPaths__": "false", "recursiveFileLookup": "true"}
# A task's part of a flat file has so many bytes; and so many are sent to Spark at a time.
LEAST_PART, LARGEST_PART = 1 << 22, 1 << 27
BLOCK = 1 << 21


def read_parquet(spark: SparkSession, paths: Collection[Path], schema: pa.Schema) -> DataFrame:
    """The rows of these files of one folder."""
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.types import from_arrow_schema

    names = {path.name for path in paths}
    (folder,) = {path.parent for path in paths}
    rows = spark.read.schema(from_arrow_schema(schema)).options(**AS_IT_IS).parquet(path_for_java(folder))
    others = {path.name for path in folder.iterdir()} - names
    return rows.filter(F.col("_metadata.file_name").isin(*names)) if others else rows


def read_lines(spark: SparkSession, path: Path) -> DataFrame:
    """A row per line of a flat file, plain or gzip, as column `value`; a line ends in LF, CR LF or CR."""
    path = path.absolute()
    parts = parts_of(path, spark.sparkContext.defaultParallelism)

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch["id"].to_pylist():
                with opened(path) as (file, _):
                    for block in blocks_of(file, *parts[number]):
                        yield pa.RecordBatch.from_arrays([lines_in(block)], ["value"])

    return spark.range(0, len(parts), 1, len(parts)).mapInArrow(read, "value string")


def parts_of(path: Path, tasks: int) -> list[tuple[int, int]]:
    """The first byte of each part, and that of the next one; what is packed can be read from its beginning only."""
    if is_packed(path):
        return [(0, sys.maxsize)]
    size = path.stat().st_size
    length = min(max(size // tasks + 1, LEAST_PART), LARGEST_PART)
    return [(start, start + length) for start in range(0, max(size, 1), length)]


def blocks_of(file: BinaryIO, start: int, stop: int) -> Iterator[bytes]:
    """The lines that begin in a part of a file, some at a time."""
    if start:
        # A line that began before belongs to the part before.
        file.seek(start - 1)
        file.readline()
    while (at := file.tell()) < stop and (block := file.read(min(BLOCK, stop - at))):
        if not block.endswith(b"\n"):
            block += file.readline()
        yield block if at else block.removeprefix(BYTE_ORDER_MARK)


def lines_in(block: bytes) -> pa.Array:
    """The lines as text, without line ends; what is no UTF-8 is left as it is."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return pc.split_pattern(pa.array([block.removesuffix(b"\n")]), "\n").flatten().view(pa.string())
