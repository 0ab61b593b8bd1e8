"""Where Spark's query reads from: files of a folder, numbered from 0 without a gap, one for each batch.

Spark asks for what there is; the answer waits until there is something, so nobody lists the folder in vain.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader

from polling_baseline.engines.structured_streaming.processor import INPUT

# So long an answer waits at most, then Spark may look whether the query is to end; and so often it looks for the file.
PATIENCE_S, LOOK_S = 0.5, 0.002
FORMAT = "linear_road"


class BatchFiles(DataSource):
    """`readStream.format("linear_road").option("folder", ...)`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return INPUT

    def simpleStreamReader(self, schema: Any) -> SimpleDataSourceStreamReader:
        return Reader(Path(self.options["folder"]))


class Reader(SimpleDataSourceStreamReader):
    """An offset is the number of the next batch."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def initialOffset(self) -> dict[str, int]:
        return {"next": 0}

    def read(self, start: dict[str, int]) -> tuple[Iterator[tuple[Any, ...]], dict[str, int]]:
        file = batch_file(self._folder, start["next"])
        deadline = time.monotonic() + PATIENCE_S
        while not file.exists():
            if time.monotonic() > deadline:
                return iter(()), start
            time.sleep(LOOK_S)
        end = {"next": start["next"] + 1}
        return self.readBetweenOffsets(start, end), end

    def readBetweenOffsets(self, start: dict[str, int], end: dict[str, int]) -> Iterator[tuple[Any, ...]]:
        numbers = range(start["next"], end["next"])
        # Spark copies the iterator, which a generator would not let it do.
        return iter([row for number in numbers for row in read_rows(batch_file(self._folder, number))])


def batch_file(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}.arrow"


def read_rows(file: Path) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in read_table(file).columns), strict=True)


def read_table(file: Path) -> pa.Table:
    with file.open("rb") as stream:
        return pa.ipc.open_stream(stream).read_all()
