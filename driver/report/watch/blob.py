"""Numbers for the page: a JSON head and typed arrays behind it, compressed by gzip."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

# The types that a page can lay over bytes, by the name of JavaScript's array.
TYPES: dict[str, np.dtype[Any]] = {
    "Uint8Array": np.dtype("u1"),
    "Int8Array": np.dtype("i1"),
    "Uint16Array": np.dtype("<u2"),
    "Int16Array": np.dtype("<i2"),
    "Int32Array": np.dtype("<i4"),
    "Float32Array": np.dtype("<f4"),
    "Float64Array": np.dtype("<f8"),
}
NAMES = {dtype: name for name, dtype in TYPES.items()}
ALIGNMENT = 8


def pack(head: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], level: int = 6) -> bytes:
    """The head with the place of each array in it, then the arrays; each begins at a multiple of ALIGNMENT."""
    places, parts, offset = {}, [], 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        padding = -len(data) % ALIGNMENT
        places[name] = {"type": NAMES[array.dtype], "offset": offset, "length": array.size}
        parts += [data, bytes(padding)]
        offset += len(data) + padding
    text = json.dumps({**head, "arrays": places}, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 4) % ALIGNMENT)
    return gzip.compress(b"".join([struct.pack("<I", len(text)), text, *parts]), level, mtime=0)


def unpack(blob: bytes) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """What `pack` was given, as the page sees it."""
    data = gzip.decompress(blob)
    (length,) = struct.unpack_from("<I", data)
    head = json.loads(data[4 : 4 + length])
    arrays = {
        name: np.frombuffer(data, TYPES[place["type"]], place["length"], 4 + length + place["offset"])
        for name, place in head.pop("arrays").items()
    }
    return head, arrays
