"""Columns as bytes: what travels through Spark and lies in its state.

A row per vehicle would cost Spark more than the rules do; so a shard's share of a batch is one row with a few byte
strings.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np

from polling_baseline.batch import ANSWER_KINDS, Columns


class Layout:
    """Names and types of columns that lie one behind the other; the number of rows follows from the length."""

    def __init__(self, **types: str) -> None:
        self._types = {name: np.dtype(name_of_type) for name, name_of_type in types.items()}
        self._row_bytes = sum(column_type.itemsize for column_type in self._types.values())

    def pack(self, columns: Mapping[str, np.ndarray]) -> bytes:
        return b"".join(np.ascontiguousarray(columns[name], kind).tobytes() for name, kind in self._types.items())

    def unpack(self, data: bytes | None) -> Columns:
        """Views of the bytes, which cannot be written; no bytes are no rows."""
        data = data or b""
        rows, start, columns = len(data) // self._row_bytes, 0, {}
        for name, kind in self._types.items():
            columns[name] = np.frombuffer(data, kind, rows, start)
            start += rows * kind.itemsize
        return columns

    def empty(self) -> Columns:
        return self.unpack(None)

    def joined(self, parts: Sequence[Mapping[str, np.ndarray]]) -> Columns:
        return {
            name: np.concatenate([part[name].astype(kind, copy=False) for part in parts] or [np.zeros(0, kind)])
            for name, kind in self._types.items()
        }


def taken(columns: Mapping[str, np.ndarray], rows: np.ndarray | slice) -> Columns:
    return {name: column[rows] for name, column in columns.items()}


def join_parts(parts: Sequence[bytes]) -> bytes:
    """Byte strings as one."""
    return struct.pack(f"<{len(parts) + 1}q", len(parts), *map(len, parts)) + b"".join(parts)


def split_parts(data: bytes) -> list[bytes]:
    [count] = struct.unpack_from("<q", data)
    lengths = struct.unpack_from(f"<{count}q", data, 8)
    start, parts = 8 * (count + 1), []
    for length in lengths:
        parts.append(data[start : start + length])
        start += length
    return parts


# A place is a segment of one direction of an expressway, as one number: see `place_of`.
REPORTS = Layout(second="i2", vehicle_id="i4", place="i4", position_ft="i4", speed_mph="i2", lane="i1")
REQUESTS = Layout(
    kind="i1",
    second="i2",
    vehicle_id="i4",
    xway="i2",
    query_id="i8",
    from_seg="i1",
    to_seg="i1",
    day_of_week="i1",
    minute_of_day="i2",
    day="i1",
)
ANSWERS = {name: Layout(**kind.types) for name, kind in ANSWER_KINDS.items()}
