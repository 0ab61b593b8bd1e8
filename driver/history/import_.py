"""Histories from elsewhere become the same files that `generate_history` writes.

A flat file is read by one task, from its beginning, so that its lines have numbers; Spark then brings the rows of each
file of the data set together, whatever their order was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from driver.dataset.folder import write_columns
from driver.dataset.import_ import ImportHistory, ImportOptions, without_history
from driver.dataset.rejects import Reject
from driver.history.rows import SEGMENT, TOLL, Chunk, History, files_in, read_rows
from driver.spark.units import run_job
from polling_baseline import spec
from polling_baseline.wording import TEXT_CUT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WEEKS = -(-spec.HISTORY_DAYS // spec.WEEK_DAYS)
REJECTED = -1
# So much of a flat file per task, if that makes more tasks than there are cores.
PARTITION_BYTES = 1 << 28

Rejected = tuple[int, int, str, bytes]  # the file's number, line, reason, text


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of one source file, in order: their lines, and an array per column."""

    file: int
    line: np.ndarray
    values: np.ndarray


def history_importer(options: ImportOptions, master: str) -> ImportHistory:
    """What imports the history files that the options name; without any there is no need to start Spark."""
    from driver.spark.session import session

    toll, segment = options.toll_history, options.segment_history
    if toll is None and segment is None:
        return without_history
    return lambda folder, reject: import_history(session(master), folder, toll, segment, reject)


def import_history(
    spark: SparkSession, folder: Path, toll: Path | None, segment: Path | None, reject: Reject
) -> dict[str, int]:
    """Write the history files of a data set from flat files or Parquet, and count their rows.

    Of two rows with the same key the first one stays.
    """
    sources = {TOLL: toll, SEGMENT: segment}
    return {
        history.name: _import(spark, folder, history, source, reject) if source else 0
        for history, source in sources.items()
    }


def _import(spark: SparkSession, folder: Path, history: History, source: Path, reject: Reject) -> int:
    # A task may have another working folder.
    files = [file.absolute() for file in files_in(source, history)]
    context = spark.sparkContext
    partitions = max(context.defaultParallelism, sum(file.stat().st_size for file in files) // PARTITION_BYTES)
    # Blocks of rows travel, not rows: to Spark a block is one value.
    outcome = (
        context.parallelize(list(enumerate(files)), len(files))
        .flatMap(lambda numbered: _read(history, *numbered))
        .groupByKey(partitions)
        .map(lambda part: _write(history, folder, *part))
    )
    outcomes = run_job(spark, outcome.collect)
    for file, line, reason, text in sorted(chain.from_iterable(rejected for _, rejected in outcomes)):
        reject(files[file], line, reason, text.decode("utf-8", "replace"))
    return sum(written for written, _ in outcomes)


def _read(history: History, file: int, path: Path) -> Iterator[tuple[int, Rows | list[Rejected]]]:
    """The rows of a source, each block with the number of the file of the data set that it belongs to."""
    for chunk in read_rows(path, history):
        low, high = history.bounds
        outside = (chunk.values < low) | (chunk.values > high)
        good = chunk.whole & ~outside.any(axis=1)
        if not good.all():
            yield REJECTED, [_rejected(history, file, chunk, int(row), outside[row]) for row in np.flatnonzero(~good)]
        line, values = chunk.line + np.flatnonzero(good), chunk.values[good].T.astype(np.int32)
        columns = dict(zip(history.schema.names, values, strict=True))
        part = columns[history.block_column] // history.block_size * WEEKS + (columns["day"] - 1) // spec.WEEK_DAYS
        for number in np.unique(part):
            in_part = part == number
            yield int(number), Rows(file, line[in_part], values[:, in_part])


def _rejected(history: History, file: int, chunk: Chunk, row: int, outside: np.ndarray) -> Rejected:
    reason = f"not {len(history.words)} integers"
    if chunk.whole[row]:
        field = int(outside.argmax())
        reason = f"{history.words[field]} is out of range {'..'.join(map(str, history.bounds[:, field]))}"
    return file, chunk.line + row, reason, chunk.text(row)[:TEXT_CUT]


def _write(history: History, folder: Path, part: int, blocks: Iterable[Any]) -> tuple[int, list[Rejected]]:
    """Write one file of the data set; gives its number of rows, and each row that it did not take."""
    if part == REJECTED:
        return 0, list(chain.from_iterable(blocks))
    in_order = sorted(blocks, key=lambda rows: (rows.file, rows.line[0]))
    values = np.concatenate([rows.values for rows in in_order], axis=1)
    columns = dict(zip(history.schema.names, values, strict=True))
    # The sort is stable: of equal keys, the first stays first.
    order = np.lexsort([columns[name] for name in reversed(history.key)])
    keys = np.stack([columns[name][order] for name in history.key])
    again = np.append(False, (keys[:, 1:] == keys[:, :-1]).all(axis=0))
    write_columns(history.path(folder, *divmod(part, WEEKS)), history.schema, list(values[:, order[~again]]))
    line = np.concatenate([rows.line for rows in in_order])
    file = np.repeat([rows.file for rows in in_order], [len(rows.line) for rows in in_order])
    reason = f"second row for the same {', '.join(history.key)}"
    return int((~again).sum()), [
        (int(file[at]), int(line[at]), reason, ",".join(map(str, values[:, at])).encode()) for at in order[again]
    ]
