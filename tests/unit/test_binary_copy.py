"""The bytes of binary COPY, against the format's description and a row-by-row encoder."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from polling_baseline.database.binary_copy import BLOCK_ROWS, encode

CODES = {"int8": "h", "int16": "h", "int32": "i", "int64": "q", "float32": "f", "float64": "d"}


def encode_row_by_row(columns):
    pieces = [b"PGCOPY\n\xff\r\n\0", struct.pack(">ii", 0, 0)]
    for row in zip(*columns.values(), strict=True):
        pieces.append(struct.pack(">h", len(row)))
        for value in row:
            code = CODES[value.dtype.name]
            pieces.append(struct.pack(">i" + code, struct.calcsize(">" + code), value))
    return b"".join([*pieces, struct.pack(">h", -1)])


@pytest.mark.parametrize("rows", [0, 1, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1])
def test_same_bytes_as_row_by_row(rows):
    rng = np.random.default_rng(rows)
    columns = {name: rng.integers(-100, 100, rows).astype(name) for name in CODES}
    assert b"".join(encode(columns)) == encode_row_by_row(columns)


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64"])
def test_the_extremes_of_each_type(name):
    limits = np.iinfo(name)
    columns = {"value": np.array([limits.min, -1, 0, limits.max], name)}
    assert b"".join(encode(columns)) == encode_row_by_row(columns)


def test_arrays_that_are_not_contiguous():
    columns = {"value": np.arange(20, dtype=np.int32)[::-2]}
    assert b"".join(encode(columns)) == encode_row_by_row(columns)


def test_big_endian_arrays():
    columns = {"value": np.arange(5, dtype=">i4")}
    assert b"".join(encode(columns)) == encode_row_by_row({"value": np.arange(5, dtype=np.int32)})


def test_columns_of_different_length_are_refused():
    with pytest.raises(ValueError, match="differ in length"):
        b"".join(encode({"a": np.zeros(2, np.int32), "b": np.zeros(3, np.int32)}))


@pytest.mark.parametrize("name", ["uint16", "bool", "U4", "object"])
def test_other_types_are_refused(name):
    with pytest.raises(TypeError, match="not supported"):
        b"".join(encode({"a": np.zeros(2, name)}))
