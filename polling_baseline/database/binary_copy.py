"""Binary COPY between numpy columns and tables, with no Python per row.

PostgreSQL's format is a fixed record per row as long as no column is null and all are numbers: the count of columns,
then for each its width and its value, big-endian.  That is a numpy structured array.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from psycopg2.extensions import cursor as Cursor
from psycopg2.sql import SQL, Composable, Identifier

Columns = Mapping[str, npt.NDArray[Any]]

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"
# A block of rows stays in the processor's cache while one column after the other is written into it.
BLOCK_ROWS = 4096


def copy_in(cursor: Cursor, table: str, columns: Columns) -> int:
    """Append the columns to `schema.table`, and give the number of rows.

    The table's types must have exactly the arrays' widths: int16 is smallint, int32 integer, int64 bigint, float64
    double precision.  int8 becomes smallint.
    """
    statement = SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(
        Identifier(*table.split(".")), SQL(", ").join(map(Identifier, columns))
    )
    cursor.copy_expert(statement, _Source(encode(columns)))
    return _length(columns)


def copy_out(
    cursor: Cursor, query: str | Composable, dtypes: Mapping[str, npt.DTypeLike]
) -> dict[str, npt.NDArray[Any]]:
    """The rows of `query` as columns; `dtypes` names them in order and must match their types exactly.

    A null, or a column of another width, is a ValueError.
    """
    sink = io.BytesIO()
    rows = query if isinstance(query, Composable) else SQL(query)
    cursor.copy_expert(SQL("COPY ({}) TO STDOUT (FORMAT binary)").format(rows), sink)
    template = _template(tuple(np.dtype(dtype).str[1:] for dtype in dtypes.values()))
    body = sink.getbuffer()[len(HEADER) : -len(TRAILER)]
    count, rest = divmod(len(body), template.dtype.itemsize)
    records = np.frombuffer(body, template.dtype, count)
    constants = [name for name in template.dtype.names or () if not name.startswith("value")]
    if rest or any((records[name] != template[name][0]).any() for name in constants):
        raise ValueError(
            f"the query does not give {len(dtypes)} columns of the types {dict(dtypes)}, none of them null"
        )
    return {
        column: records[f"value{index}"].astype(np.dtype(dtype), order="C")
        for index, (column, dtype) in enumerate(dtypes.items())
    }


def encode(columns: Columns) -> Iterator[bytes]:
    """What COPY ... FROM STDIN (FORMAT binary) reads, in pieces."""
    arrays = list(columns.values())
    rows = _length(columns)
    block = _template(tuple(array.dtype.str[1:] for array in arrays))[:rows].copy()
    values = [block[f"value{index}"] for index in range(len(arrays))]
    yield HEADER
    for start in range(0, rows, BLOCK_ROWS):
        size = min(BLOCK_ROWS, rows - start)
        for value, array in zip(values, arrays, strict=True):
            value[:size] = array[start : start + size]
        yield block[:size].tobytes()
    yield TRAILER


class _Source(io.RawIOBase):
    """What psycopg2 takes for a file: each `read` gives the next piece, whatever size was asked for."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def read(self, _size: int = -1, /) -> bytes:
        return next(self._pieces, b"")


def _length(columns: Columns) -> int:
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        raise ValueError(f"the columns {', '.join(columns)} differ in length")
    return lengths.pop()


@lru_cache
def _template(types: tuple[str, ...]) -> npt.NDArray[Any]:
    """A block of records that lack only their values."""
    fields = [("columns", ">i2")]
    for index, kind in enumerate(types):
        if kind not in ("i1", "i2", "i4", "i8", "f4", "f8"):
            raise TypeError(f"binary COPY of the numpy type {kind} is not supported")
        fields += [(f"width{index}", ">i4"), (f"value{index}", ">" + kind.replace("i1", "i2"))]
    block = np.zeros(BLOCK_ROWS, fields)
    block["columns"] = len(types)
    for index in range(len(types)):
        block[f"width{index}"] = block.dtype[f"value{index}"].itemsize
    block.flags.writeable = False
    return block
