"""A data set on disk: the input of L expressways for some minutes, and its history.

    dataset.json                                 what is in it, with a checksum per file
    traffic/xway-000.parquet                     one row group per minute that has input, sorted as ORDER says
    history/toll/block-0000-week-00.parquet      by vehicle block and week, sorted by (day, vehicle_id, xway)
    history/segment/xway-000-week-00.parquet     by expressway and week, sorted by (day, minute, dir, seg)
    rejects.csv                                  the lines that an import did not take, with line number and reason

Which row stands in which file, and where, follows from the rows alone: the same data give the same bytes.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from driver.dataset.check import REMEDY, check_numbers, check_values
from driver.json_record import read_json, write_json
from polling_baseline import spec
from polling_baseline.batch import INPUT_SCHEMA
from polling_baseline.files import complete_folder, refuse_what_is_no_text
from polling_baseline.parquet import reading
from polling_baseline.refusal import Refusal

FORMAT = 1
NAME = "dataset.json"
ORDER = ("second", "kind", "vehicle_id", "query_id")
# Vehicle and query numbers of expressway k start at k * ID_BLOCK, its westbound ones half a block later.
ID_BLOCK = 1_000_000
PARQUET = {"compression": "zstd", "compression_level": 1}
TOLL_SCHEMA = pa.schema(
    [
        pa.field("vehicle_id", pa.int32(), nullable=False),
        pa.field("day", pa.int8(), nullable=False),
        pa.field("xway", pa.int16(), nullable=False),
        pa.field("tolls", pa.int32(), nullable=False),
    ]
)
SEGMENT_SCHEMA = pa.schema(
    [
        pa.field("day", pa.int8(), nullable=False),
        pa.field("minute", pa.int16(), nullable=False),
        pa.field("xway", pa.int16(), nullable=False),
        pa.field("dir", pa.int8(), nullable=False),
        pa.field("seg", pa.int8(), nullable=False),
        pa.field("lav", pa.int32(), nullable=False),
        pa.field("cars", pa.int32(), nullable=False),
        pa.field("toll", pa.int32(), nullable=False),
    ]
)


def traffic_path(folder: Path, xway: int) -> Path:
    return folder / "traffic" / f"xway-{xway:03d}.parquet"


def toll_path(folder: Path, block: int, week: int) -> Path:
    """The file of the vehicles `block * ID_BLOCK` and up, for the days `7 * week + 1` and up."""
    return folder / "history" / "toll" / f"block-{block:04d}-week-{week:02d}.parquet"


def segment_path(folder: Path, xway: int, week: int) -> Path:
    return folder / "history" / "segment" / f"xway-{xway:03d}-week-{week:02d}.parquet"


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write one whole file of history."""
    with pq.ParquetWriter(path, table.schema, **PARQUET) as writer:
        writer.write_table(table)


def write_columns(path: Path, schema: pa.Schema, columns: Sequence[np.ndarray]) -> None:
    """Write one file of history from its columns, whose rows are in order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
    write_parquet(pa.Table.from_arrays(arrays, schema=schema), path)


class TrafficWriter:
    """Writes one expressway's file, a minute at a time, in rising order."""

    def __init__(self, folder: Path, xway: int) -> None:
        path = traffic_path(folder, xway)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._writer = pq.ParquetWriter(path, INPUT_SCHEMA, **PARQUET)

    def write_minute(self, rows: pa.Table) -> None:
        """Take the rows of one minute in any order; a minute without input leaves no trace."""
        if rows.num_rows:
            order = pc.sort_indices(rows, [(column, "ascending") for column in ORDER])
            self._writer.write_table(rows.take(order).cast(INPUT_SCHEMA), row_group_size=rows.num_rows)

    def __enter__(self) -> TrafficWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()


def read_minutes(path: Path, from_minute: int = 1, to_minute: int | None = None) -> Iterator[tuple[int, pa.Table]]:
    """The minutes of one expressway's file that have input, with their number, in order."""
    with reading(path), pq.ParquetFile(path) as file:
        column = file.schema_arrow.get_field_index("second")
        for group in range(file.num_row_groups):
            minute = spec.minute_of(file.metadata.row_group(group).column(column).statistics.min)
            if from_minute <= minute and (to_minute is None or minute <= to_minute):
                yield minute, file.read_row_group(group)


class FileInfo(TypedDict):
    bytes: int
    sha256: str


class DatasetInfo(TypedDict):
    """`dataset.json`."""

    format: int
    xways: float
    seconds: int
    # Null for a data set that was imported.
    seed: int | None
    # Of reports, balance, expenditure, travel_time, vehicles, toll_history, segment_history and rejects.
    counts: dict[str, int]
    # How it was made.
    options: dict[str, object]
    # By name, seen from the folder.
    files: dict[str, FileInfo]


@dataclass(frozen=True, slots=True)
class Dataset:
    """What `dataset.json` says, and where it lies."""

    path: Path
    xways: float
    seconds: int
    seed: int | None
    counts: dict[str, int]
    options: dict[str, object]
    files: dict[str, FileInfo] = field(default_factory=dict)
    # How many expressways there are on disk, if those of the data set are copies of them (see driver.dataset.relabel).
    distinct: int | None = None
    # The kinds of request that are left out when it is read (see driver.dataset.ignore).
    ignored: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def traffic(self) -> dict[int, Path]:
        """The file of each expressway that has input; copies share one."""
        files = {int(path.stem[5:]): path for path in self._files_in("traffic")}
        if self.distinct is None:
            return files
        return {xway: files[xway % self.distinct] for xway in range(math.ceil(self.xways))}

    @property
    def original(self) -> Dataset:
        """The data set as it is on disk."""
        return self if self.distinct is None else replace(self, xways=float(self.distinct), distinct=None)

    @property
    def toll_history(self) -> list[Path]:
        return self._files_in("history/toll")

    @property
    def segment_history(self) -> list[Path]:
        return self._files_in("history/segment")

    @property
    def counted_files(self) -> dict[str, FileInfo]:
        """All files but the rejects: what an engine or the judge reads."""
        return {name: info for name, info in sorted(self.files.items()) if name != "rejects.csv"}

    @property
    def identity(self) -> str:
        """Equal for equal input and history, however they were made."""
        lines = (f"{name} {info['sha256']}\n" for name, info in self.counted_files.items())
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def _files_in(self, folder: str) -> list[Path]:
        """By `dataset.json`: whatever else lies there is no part of the data set."""
        return [self.path / name for name in sorted(self.files) if name.startswith(f"{folder}/")]


def open_dataset(path: Path) -> Dataset:
    """Read `dataset.json`, and see that the files it names are there in full."""
    refuse_what_is_no_text(path)
    try:
        info = read_json(path / NAME, DatasetInfo, REMEDY)
    except (FileNotFoundError, NotADirectoryError):
        raise Refusal(f"{path} is not a data set; make one with lrb generate or lrb import") from None
    except PermissionError:
        raise Refusal(f"no permission to read {path}") from None
    if info["format"] != FORMAT:
        raise Refusal(f"{path} has format {info['format']}, this lrb reads format {FORMAT}; use the lrb that made it")
    check_values(info, path / NAME)
    dataset = Dataset(
        path=path.absolute(),
        xways=info["xways"],
        seconds=info["seconds"],
        seed=info["seed"],
        counts=info["counts"],
        options=info["options"],
        files=info["files"],
    )
    for name, file_info in dataset.files.items():
        file = path / name
        if not file.is_file() or file.stat().st_size != file_info["bytes"]:
            raise Refusal(f"{file} is missing or cut short; make the data set again")
    check_numbers(dataset)
    return dataset


@contextmanager
def new_folder(path: Path, force: bool) -> Iterator[Path]:
    """Give an empty folder that takes the name `path` when the block ends well, and vanishes otherwise."""
    refuse_what_is_no_text(path)
    if path.exists() and not force:
        raise Refusal(f"{path} exists; choose another name or add --force to replace it")
    if path.exists() and not (path / NAME).exists() and any(path.iterdir() if path.is_dir() else [path]):
        raise Refusal(f"{path} is not a data set, so it is not replaced; choose another name")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"cannot write to {path.parent}: {error.strerror}") from None
    try:
        with complete_folder(path) as folder:
            yield folder
    except OSError as error:
        raise Refusal(f"cannot write {path}: {error.strerror or error}; nothing was changed") from error


def describe(
    folder: Path, *, xways: float, seconds: int, seed: int | None, counts: dict[str, int], options: dict[str, object]
) -> None:
    """Write the `dataset.json` of a folder whose other files are complete."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    with ThreadPoolExecutor() as pool:
        digests = list(pool.map(sha256_of, paths))
    files: dict[str, FileInfo] = {
        str(path.relative_to(folder)): {"bytes": path.stat().st_size, "sha256": digest}
        for path, digest in zip(paths, digests, strict=True)
    }
    info: DatasetInfo = {
        "format": FORMAT,
        "xways": xways,
        "seconds": seconds,
        "seed": seed,
        "counts": counts,
        "options": options,
        "files": files,
    }
    write_json(folder / NAME, info)


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
