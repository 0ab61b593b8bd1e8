"""The classical flat files: lines of 15 integers, read in chunks and judged line by line.

A line ends with LF or CR LF; the last one may lack it.  An integer is digits with at most one sign before them and any
blanks or tabs around.  A UTF-8 byte order mark before the first line is skipped.  A line of more than MAX_LINE bytes
is rejected however it goes on.  No Python runs per line, except for the rejected ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from driver.dataset.packed_file import BYTE_ORDER_MARK, opened
from polling_baseline import spec
from polling_baseline.batch import INPUT_SCHEMA
from polling_baseline.compiled import compiled

MAX_LINE = 1 << 16

TAB, NEWLINE, RETURN, BLANK, PLUS, COMMA, MINUS, ZERO = b"\t\n\r +,-0"
# The largest number that has 64 bits, less its last digit; and that digit.
LONGEST, LONGEST_LAST = divmod(2**63 - 1, 10)

FIELDS = tuple(spec.FIELDS)
# One accepted line: the columns of a data set, then where it stood: its number, and its bytes in the chunk.
ROW = np.dtype(
    [(column.name, column.type.to_pandas_dtype()) for column in INPUT_SCHEMA]
    + [("line", np.int64), ("start", np.int32), ("stop", np.int32)],
    align=True,
)
REJECT = np.dtype([("line", np.int64), ("start", np.int32), ("stop", np.int32), ("verdict", np.int32)], align=True)

# Verdicts; OUT_OF_RANGE + k says it of field k.
ACCEPTED, NOT_INTEGERS, TOO_LONG, UNKNOWN_TYPE, TIME_LOWER, SECOND_REPORT, OUT_OF_RANGE = 0, 1, 2, 3, 4, 5, 10
KIND_OF_REJECT = {
    NOT_INTEGERS: "not 15 integers",
    TOO_LONG: f"longer than {MAX_LINE} bytes",
    UNKNOWN_TYPE: "unknown Type",
    TIME_LOWER: "Time is lower than on an earlier line",
    SECOND_REPORT: "second report of this vehicle in this second",
} | {OUT_OF_RANGE + number: f"{field} out of range" for number, field in enumerate(FIELDS)}


def ranges(xways: int = spec.MAX_XWAYS) -> np.ndarray:
    """For each type and field the lowest and the highest value; lowest > highest where the type has no such field."""
    bounds = np.zeros((max(spec.USED) + 1, len(FIELDS), 2), np.int64)
    bounds[:, :, 0] = 1
    for kind, used in spec.USED.items():
        for field in used:
            bounds[kind, FIELDS.index(field)] = spec.RANGES[field]
        if "XWay" in used:
            bounds[kind, FIELDS.index("XWay"), 1] = xways - 1
    return bounds


@compiled
def integers(data, start, stop, values, huge):  # type: ignore[no-untyped-def]
    """Read the integers of one line; False if they are not as many as `values` has room for."""
    # An unsigned index spares the question whether it counts from the end.
    at, stop = np.uint64(start), np.uint64(stop)
    one, last = np.uint64(1), len(values) - 1
    for number in range(len(values)):
        while at < stop and (data[at] == BLANK or data[at] == TAB):
            at += one
        negative = at < stop and data[at] == MINUS
        if negative or (at < stop and data[at] == PLUS):
            at += one
        first, value, too_big = at, np.int64(0), False
        while at < stop:
            digit = np.int64(data[at]) - ZERO
            if digit < 0 or digit > 9:
                break
            if value >= LONGEST and (value > LONGEST or digit > LONGEST_LAST):
                too_big = True
            value = value * 10 + digit
            at += one
        if at == first:
            return False
        while at < stop and (data[at] == BLANK or data[at] == TAB):
            at += one
        values[number] = -value if negative else value
        huge[number] = too_big
        if number < last:
            if at == stop or data[at] != COMMA:
                return False
            at += one
    return at == stop


@compiled
def _verdict(values, huge, bounds, last_second):  # type: ignore[no-untyped-def]
    """What the specification says of 15 integers; in those of an accepted line, the unused become -1."""
    kind = values[0]
    # A type whose Time is not used is no type.
    if huge[0] or kind < 0 or kind >= len(bounds) or bounds[kind, 1, 0] > bounds[kind, 1, 1]:
        return UNKNOWN_TYPE
    for number in range(1, len(values)):
        low, high = bounds[kind, number, 0], bounds[kind, number, 1]
        if low > high:
            values[number] = -1
        elif huge[number] or values[number] < low or values[number] > high:
            return OUT_OF_RANGE + number
    if values[1] < last_second:
        return TIME_LOWER
    return ACCEPTED


@compiled
def _judge(data, ends, bounds, line, last_second, rows, rejects):  # type: ignore[no-untyped-def]
    """Sort the lines of `data` into rows and rejects; give how many of each, and the last accepted second."""
    values, huge = np.empty(15, np.int64), np.empty(15, np.bool_)
    accepted, rejected, start = 0, 0, 0
    for end in ends:
        stop = end - 1 if end > start and data[end - 1] == RETURN else end
        if stop - start > MAX_LINE:
            verdict = TOO_LONG
        elif not integers(data, start, stop, values, huge):
            verdict = NOT_INTEGERS
        else:
            verdict = _verdict(values, huge, bounds, last_second)
        if verdict == ACCEPTED:
            row = rows[accepted]
            row.kind, row.second, row.vehicle_id, row.speed_mph = values[0], values[1], values[2], values[3]
            row.xway, row.lane, row.dir, row.seg = values[4], values[5], values[6], values[7]
            row.position_ft, row.query_id = values[8], values[9]
            row.from_seg, row.to_seg, row.day_of_week = values[10], values[11], values[12]
            row.minute_of_day, row.day = values[13], values[14]
            row.line, row.start, row.stop = line, start, stop
            last_second = values[1]
            accepted += 1
        else:
            reject = rejects[rejected]
            reject.line, reject.start, reject.stop, reject.verdict = line, start, stop, verdict
            rejected += 1
        line += 1
        start = end + 1
    return accepted, rejected, last_second


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some whole lines of a file: the accepted ones as ROWs, the others as REJECTs, and the bytes of them all."""

    rows: np.ndarray
    rejects: np.ndarray
    data: bytes

    def text(self, place: np.void) -> bytes:
        """The bytes of one of the rows or rejects, without its line end."""
        return self.data[place["start"] : place["stop"]]


def read_chunks(
    path: Path, bounds: np.ndarray, size: int = 1 << 22, advance: Callable[[float], None] = lambda amount: None
) -> Iterator[Chunk]:
    """A file's lines, judged; `advance` hears of the bytes read from disk.

    Order is judged among the lines of this file that are right in themselves; second reports are left to the caller,
    who may have other files.
    """
    line, last_second = 1, 0
    for data in whole_lines(path, size, advance):
        codes = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(codes == NEWLINE)
        if codes[-1] != NEWLINE:
            ends = np.append(ends, len(codes))
        rows, rejects = np.empty(len(ends), ROW), np.empty(len(ends), REJECT)
        accepted, rejected, last_second = _judge(codes, ends, bounds, line, last_second, rows, rejects)
        yield Chunk(rows[:accepted], rejects[:rejected], data)
        line += len(ends)


def whole_lines(path: Path, size: int, advance: Callable[[float], None]) -> Iterator[bytes]:
    """The bytes of a file, cut after line ends; what a line has beyond MAX_LINE may be missing."""
    rest = b""
    with opened(path) as (file, where):
        done = 0
        while piece := file.read(size):
            now = where()
            advance(now - done)
            if not done:
                piece = piece.removeprefix(BYTE_ORDER_MARK)
            done = max(now, 1)
            end = piece.rfind(b"\n") + 1
            if end:
                yield rest + piece[:end]
                rest = b""
            # One byte more than allowed, and one for a CR, is enough to know that the line is too long.
            rest = (rest + piece[end:])[: MAX_LINE + 2]
    if rest:
        yield rest


def kind_of(verdict: int) -> str:
    """The reason without the line's own values, to count by."""
    return KIND_OF_REJECT[verdict]


def reason_for(verdict: int, text: bytes, bounds: np.ndarray) -> str:
    """Why a line was rejected, in words."""
    if verdict < OUT_OF_RANGE and verdict != UNKNOWN_TYPE:
        return KIND_OF_REJECT[verdict]
    values = [value.strip(b" \t")[:24].decode() for value in text.split(b",")]
    if verdict == UNKNOWN_TYPE:
        return f"unknown Type {values[0]}"
    field = verdict - OUT_OF_RANGE
    low, high = bounds[int(values[0]), field]
    return f"{FIELDS[field]} {values[field]} is out of range {low}..{high}"
