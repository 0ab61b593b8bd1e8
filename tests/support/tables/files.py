"""Files as tables of Spark.  A path is taken as it is, whatever it is called.

Spark itself expands wildcards in it, and passes over files whose names begin with `_` or `.`.  So only Parquet files,
which have names of ours, are left to it, by their folder and with wildcards turned off; flat files are read by tasks in
Python.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from driver.dataset.packed_file import opened
from driver.spark.java import path_for_java
from driver.validate.file_parts import blocks_of, lines_in, parts_of

# Spark's own readers of JSON and CSV turn wildcards off by this name.  It works for one path: of several, each that
# looks like a pattern would be read as often as there are such.
AS_IT_IS = {"__globPaths__": "false", "recursiveFileLookup": "true"}


def read_parquet(spark: SparkSession, paths: Collection[Path], schema: pa.Schema) -> DataFrame:
    """The rows of these files of one folder."""
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
                    for _, block in blocks_of(file, *parts[number]):
                        yield pa.RecordBatch.from_arrays([lines_in(block)], ["value"])

    return spark.range(0, len(parts), 1, len(parts)).mapInArrow(read, "value string")
