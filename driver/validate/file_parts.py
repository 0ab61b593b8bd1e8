"""A flat file in parts, one for each task, and a part in blocks of whole lines.  A line ends in LF, CR LF or CR."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from driver.dataset.packed_file import BYTE_ORDER_MARK, is_packed

# A task's part of a flat file has so many bytes; and so many are looked at together.
LEAST_PART, LARGEST_PART = 1 << 22, 1 << 27
BLOCK = 1 << 21
# A line is read so far; what follows in it is passed over.
LONGEST_LINE = 1 << 24


def parts_of(path: Path, tasks: int) -> list[tuple[int, int]]:
    """The first byte of each part, and that of the next one; what is packed can be read from its beginning only."""
    if is_packed(path):
        return [(0, sys.maxsize)]
    size = path.stat().st_size
    length = min(max(size // tasks + 1, LEAST_PART), LARGEST_PART)
    return [(start, start + length) for start in range(0, max(size, 1), length)]


def blocks_of(file: BinaryIO, start: int, stop: int) -> Iterator[tuple[int, bytes]]:
    """The lines that begin in a part of a file, some at a time, with the place of the first one.

    Parts begin after an LF: what has other line ends only is one part.
    """
    if start:
        # A line that began before belongs to the part before.
        file.seek(start - 1)
        file.readline()
    unfinished = False
    while ((at := file.tell()) < stop or unfinished) and (block := file.read(max(min(BLOCK, stop - at), 1))):
        unfinished = False
        if not block.endswith(b"\n"):
            block += file.readline(LONGEST_LINE)
            if len(block) >= LONGEST_LINE and not block.endswith(b"\n"):
                block, unfinished = _cut(file, at, block)
        mark = len(BYTE_ORDER_MARK) if not at and block.startswith(BYTE_ORDER_MARK) else 0
        yield at + mark, block[mark:] if mark else block


def _cut(file: BinaryIO, at: int, block: bytes) -> tuple[bytes, bool]:
    """A block whose last line is very long, up to its last line end; without one, the line without its end.

    And whether something is left up to the next LF.
    """
    end = max(block.rfind(b"\n"), block.rfind(b"\r", 0, len(block) - 1)) + 1
    if end:
        file.seek(at + end)
        return block[:end], True
    return block, _pass_over_line(file)


def _pass_over_line(file: BinaryIO) -> bool:
    """Go behind the next line end, and say whether something is left up to the next LF."""
    while more := file.read(LONGEST_LINE):
        at = file.tell() - len(more)
        if ends := [end for end in (more.find(b"\n"), more.find(b"\r")) if end >= 0]:
            end = min(ends)
            ends_in_lf = more[end : end + 1] == b"\n" or more[end + 1 : end + 2] == b"\n"
            file.seek(at + end + (2 if more[end : end + 2] == b"\r\n" else 1))
            return not ends_in_lf
    return False


def lines_in(block: bytes) -> pa.Array:
    """The lines as text, without line ends; what is no UTF-8 is left as it is."""
    return pc.split_pattern(pa.array([with_one_line_end(block).removesuffix(b"\n")]), "\n").flatten().view(pa.string())


def with_one_line_end(block: bytes) -> bytes:
    """LF for each line end."""
    return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in block else block
