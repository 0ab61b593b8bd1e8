"""The files of a data set, by Parquet's library: what it cannot read is named, and refused."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from polling_baseline.batch import Columns
from polling_baseline.refusal import Refusal

# What damage can look like: the library's own errors, and what follows if columns or statistics are not there.
DAMAGE = (OSError, pa.ArrowException, ValueError, KeyError, AttributeError)


@contextmanager
def reading(path: Path, advice: str = "make the data set again") -> Iterator[None]:
    """The block does nothing but read this file."""
    try:
        yield
    except DAMAGE as error:
        # What the system says has a number; the library says the rest.
        if isinstance(error, OSError) and error.errno:
            raise Refusal(f"cannot read {path}: {os.strerror(error.errno)}") from None
        raise Refusal(f"{path} is damaged ({' '.join(str(error).split())}); {advice}") from None


def read_columns(path: Path, names: Sequence[str] | None = None) -> Columns:
    """These columns of a file, or all, read in this thread alone."""
    with reading(path), pq.ParquetFile(path) as file:
        table = file.read(names and list(names), use_threads=False)
        return {name: table[name].to_numpy() for name in names or table.column_names}


def read_groups(path: Path, names: Sequence[str]) -> Iterator[Columns]:
    """These columns of a file, one row group after the other: what is left of one is let go before the next."""
    with reading(path), pq.ParquetFile(path) as file:
        for number in range(file.num_row_groups):
            table = file.read_row_group(number, list(names), use_threads=False)
            yield {name: table[name].to_numpy() for name in names}
