"""The rows of a history that comes from elsewhere: flat files, plain or .gz, and Parquet, in chunks of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from driver.dataset.flat_file import MAX_LINE, NEWLINE, RETURN, integers, whole_lines
from driver.dataset.folder import ID_BLOCK, SEGMENT_SCHEMA, TOLL_SCHEMA, segment_path, toll_path
from polling_baseline import spec
from polling_baseline.compiled import compiled
from polling_baseline.parquet import reading
from polling_baseline.refusal import Refusal

CHUNK_BYTES = 1 << 22
PARQUET_MAGIC = b"PAR1"
RANGES = MappingProxyType({**spec.RANGES, "Min": (1, spec.DAY_MINUTES)})
MAX_VALUE = 2**31 - 1


@dataclass(frozen=True)
class History:
    """One of the two histories: its columns, and which file of a data set a row belongs to."""

    name: str
    words: tuple[str, ...]
    schema: pa.Schema
    key: tuple[str, ...]  # also the order of a file's rows
    block_column: str
    block_size: int
    path: Callable[[Path, int, int], Path]

    @property
    def bounds(self) -> np.ndarray:
        """The lowest values of the columns, and the highest."""
        return np.array([RANGES.get(word, (0, MAX_VALUE)) for word in self.words]).T


TOLL = History(
    name="toll_history",
    words=tuple(spec.TOLL_HISTORY),
    schema=TOLL_SCHEMA,
    key=("day", "vehicle_id", "xway"),
    block_column="vehicle_id",
    block_size=ID_BLOCK,
    path=toll_path,
)
SEGMENT = History(
    name="segment_history",
    words=tuple(spec.SEGMENT_HISTORY),
    schema=SEGMENT_SCHEMA,
    key=("day", "minute", "xway", "dir", "seg"),
    block_column="xway",
    block_size=1,
    path=segment_path,
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows of a file: integers, one column per column of the history, and which rows are nothing else."""

    line: int  # of the first row
    values: np.ndarray
    whole: np.ndarray
    data: bytes | None = None  # a flat file's own text, and where each row stands in it
    starts: np.ndarray | None = None
    ends: np.ndarray | None = None

    def text(self, row: int) -> bytes:
        if self.data is None or self.starts is None or self.ends is None:
            return ",".join(map(str, self.values[row])).encode()
        return self.data[self.starts[row] : self.ends[row]]


def files_in(source: Path, history: History) -> list[Path]:
    """The flat file or the Parquet files, having seen that they can be read and have the columns."""
    try:
        files = sorted(source.rglob("*.parquet")) if source.is_dir() else [source]
        if not files:
            raise Refusal(f"{source} is a folder without Parquet files; name a flat file, or such a folder")
        for file in files:
            if _is_parquet(file):
                _names(pq.read_schema(file), file, history)
    except FileNotFoundError:
        raise Refusal(f"{source} does not exist") from None
    except OSError as error:
        raise Refusal(f"cannot read {source}: {error.strerror or error}") from None
    except pa.ArrowInvalid as error:
        raise Refusal(f"{source} is damaged: {error}") from None
    return files


def read_rows(path: Path, history: History) -> Iterator[Chunk]:
    return _parquet_chunks(path, history) if _is_parquet(path) else _flat_chunks(path, history)


def _is_parquet(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC


def _names(schema: pa.Schema, file: Path, history: History) -> list[str]:
    """What the columns are called in a Parquet file: the specification's names or ours."""
    for names in (list(history.words), history.schema.names):
        if all(name in schema.names and pa.types.is_integer(schema.field(name).type) for name in names):
            return names
    raise Refusal(f"{file} lacks integer columns {', '.join(history.words)}; rename them, or choose another file")


def _parquet_chunks(path: Path, history: History) -> Iterator[Chunk]:
    line = 1
    with reading(path, "fetch it again"), pq.ParquetFile(path) as file:
        names = _names(file.schema_arrow, path, history)
        for batch in file.iter_batches(columns=names):
            columns = batch.select(names).columns
            whole = np.all([column.is_valid().to_numpy(zero_copy_only=False) for column in columns], axis=0)
            values = np.stack([column.cast(pa.int64(), safe=False).fill_null(-1).to_numpy() for column in columns], 1)
            yield Chunk(line, values, whole)
            line += len(values)


def _flat_chunks(path: Path, history: History) -> Iterator[Chunk]:
    line = 1
    for data in whole_lines(path, CHUNK_BYTES, lambda amount: None):
        if line == 1 and (length := _header_length(data, history)):
            line, data = 2, data[length:]
        codes = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(codes == NEWLINE)
        if len(codes) and codes[-1] != NEWLINE:
            ends = np.append(ends, len(codes))
        starts = np.append(0, ends + 1)
        values, whole = np.zeros((len(ends), len(history.words)), np.int64), np.zeros(len(ends), np.bool_)
        _parse(codes, starts, ends, values, whole)
        yield Chunk(line, values, whole, data, starts, ends)
        line += len(ends)


def _header_length(data: bytes, history: History) -> int:
    """How long the first line is if it names the columns."""
    first = data[: data.find(b"\n") + 1]
    names = first.decode(errors="replace").lower().replace(" ", "").strip()
    return len(first) if names in (",".join(history.words).lower(), ",".join(history.schema.names)) else 0


@compiled
def _parse(data, starts, ends, values, whole):  # type: ignore[no-untyped-def]
    """Fill in the integers of each line, and whether it has just as many as there are columns."""
    huge = np.empty(values.shape[1], np.bool_)
    for row in range(len(ends)):
        start, stop = starts[row], ends[row]
        if stop > start and data[stop - 1] == RETURN:
            stop -= 1
        whole[row] = stop - start <= MAX_LINE and integers(data, start, stop, values[row], huge)
        for column in range(len(huge)):
            if whole[row] and huge[column]:
                values[row, column] = -1
