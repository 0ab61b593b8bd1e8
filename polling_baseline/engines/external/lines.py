"""The lines that go to a foreign system and come back from it: whole seconds at a time, no Python per line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS, Answers, Batch, Columns
from polling_baseline.compiled import compiled

READY, MARK = b"ready", b"mark"
# A line that is longer is none of ours, however it goes on.
MAX_LINE = 1 << 16
# What a line of input takes at most: 15 integers, of which one has 64 bits, two 32 and the others 16.
WIDEST_LINE = 128

TAB, NEWLINE, RETURN, BLANK, PLUS, COMMA, MINUS, ZERO = b"\t\n\r +,-0"
MARK_CODES = np.frombuffer(MARK + b" ", np.uint8)
# The largest number that has 64 bits, less its last digit; and that digit.
LONGEST, LONGEST_LAST = divmod(2**63 - 1, 10)

# Of each kind of answer, how many fields a line has, and which of them are Emit and Time.
_FIELDS = [kind.fields for kind in ANSWER_KINDS.values()]
WIDTHS = np.array([len(fields) for fields in _FIELDS])
EMITS = np.array([fields.index("emit") for fields in _FIELDS])
SECONDS = np.array([fields.index("second") for fields in _FIELDS])
# What a line is, if it is no answer.
A_MARK, NOT_AN_ANSWER, NOT_SENT = 5, 6, 7


def write_batch(batch: Batch, marks: bool) -> bytes:
    """The input lines of a batch, and after each of its seconds a mark, if there are to be any."""
    rows = _rows(batch)
    rows = rows[np.argsort(rows[:, 1], kind="stable")] if len(batch.seconds) > 1 else rows
    if not marks:
        return _lines(rows)
    borders = np.searchsorted(rows[:, 1], [*batch.seconds, batch.seconds.stop])
    return b"".join(
        _lines(rows[start:stop]) + b"%s %d\n" % (MARK, second)
        for second, start, stop in zip(batch.seconds, borders[:-1], borders[1:], strict=True)
    )


def warm_up() -> None:
    """Have the machine code ready before the clock starts."""
    _lines(np.zeros((1, len(spec.FIELDS)), np.int64))
    read_answers(b"mark 0\n0,1,0,-1,0,0\n", range(1), 0.0)


def _rows(batch: Batch) -> npt.NDArray[np.int64]:
    """A batch as lines of 15 integers, its reports before its requests."""
    parts = [part for share in batch.shares for part in (share.reports, share.requests)]
    rows = np.full((sum(len(part["second"]) for part in parts), len(spec.FIELDS)), spec.UNUSED, np.int64)
    start = 0
    for part in parts:
        stop = start + len(part["second"])
        _fill(rows[start:stop], part)
        start = stop
    return rows


def _fill(rows: npt.NDArray[np.int64], part: Columns) -> None:
    if "kind" not in part:
        rows[:, 0] = spec.REPORT
    for number, name in enumerate(spec.FIELDS.values()):
        if name in part:
            rows[:, number] = part[name]


def _lines(rows: npt.NDArray[np.int64]) -> bytes:
    out = np.empty(len(rows) * WIDEST_LINE, np.uint8)
    return out[: _write(rows, out)].tobytes()


@compiled
def _write(rows, out):  # type: ignore[no-untyped-def]
    """Rows of integers as lines; give how many bytes of `out` they take."""
    at = 0
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            value = rows[row, column]
            if value < 0:
                out[at] = MINUS
                at += 1
                value = -value
            end, rest = at + 1, value // 10
            while rest:
                end += 1
                rest //= 10
            next_at = end
            while end > at:
                end -= 1
                out[end] = ZERO + value % 10
                value //= 10
            out[next_at] = COMMA
            at = next_at + 1
        out[at - 1] = NEWLINE
    return at


@dataclass(frozen=True, slots=True)
class ReceivedLines:
    """What some lines of a system say: answers by kind, the marks that it echoes, and the line that ends it all."""

    answers: Sequence[Answers]
    marks: npt.NDArray[np.int64]
    # The first line that is no answer, why, and how many lines came before it.
    bad_line: bytes | None = None
    why: str = ""
    lines: int = 0


def read_answers(data: bytes, sent: range, read_at: float) -> ReceivedLines:
    """Whole lines, read at this moment, when these seconds had been sent."""
    codes = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(codes == NEWLINE)
    kinds, values = np.empty(len(ends), np.int64), np.empty((len(ends), WIDTHS.max()), np.int64)
    count = _read(codes, ends, WIDTHS, EMITS, SECONDS, sent.start, sent.stop, kinds, values)
    kinds, values = kinds[:count], values[:count]
    answers = []
    for number, (name, kind) in enumerate(ANSWER_KINDS.items()):
        rows = values[kinds == number]
        if len(rows):
            columns = {field: rows[:, at] for at, field in enumerate(kind.fields) if field in kind.columns}
            answers.append(Answers(name, columns, read_at))
    marks = values[kinds == A_MARK, 0]
    if kinds[-1:].max(initial=0) < NOT_AN_ANSWER:
        return ReceivedLines(answers, marks, lines=count)
    start = 0 if count == 1 else int(ends[count - 2]) + 1
    why = "is not an answer" if kinds[-1] == NOT_AN_ANSWER else f"is about a second that was not sent ({_span(sent)})"
    return ReceivedLines(answers, marks, data[start : int(ends[count - 1])], why, count - 1)


def _span(sent: range) -> str:
    return f"{sent.start} to {sent.stop - 1} were" if sent else "none was"


@compiled
def _number(data, at, stop):  # type: ignore[no-untyped-def]
    """The integer at this place, with blanks around; give it and where it ends, or -1 if there is none."""
    while at < stop and (data[at] == BLANK or data[at] == TAB):
        at += 1
    negative = at < stop and data[at] == MINUS
    if negative or (at < stop and data[at] == PLUS):
        at += 1
    first, value = at, np.int64(0)
    while at < stop:
        digit = np.int64(data[at]) - ZERO
        if digit < 0 or digit > 9:
            break
        if value >= LONGEST and (value > LONGEST or digit > LONGEST_LAST):
            return np.int64(0), -1
        value = value * 10 + digit
        at += 1
    if at == first:
        return np.int64(0), -1
    while at < stop and (data[at] == BLANK or data[at] == TAB):
        at += 1
    return -value if negative else value, at


@compiled
def _answer(data, start, stop, widths, emits, values):  # type: ignore[no-untyped-def]
    """Read one line of output into `values`; give its kind, or NOT_AN_ANSWER."""
    kind, at = _number(data, start, stop)
    if at < 0 or kind < 0 or kind >= len(widths):
        return NOT_AN_ANSWER
    values[0] = kind
    for field in range(1, widths[kind]):
        if at >= stop or data[at] != COMMA:
            return NOT_AN_ANSWER
        at += 1
        if field == emits[kind]:
            # Whatever stands there: the driver has its own clock.
            while at < stop and data[at] != COMMA:
                at += 1
            values[field] = -1
        else:
            values[field], at = _number(data, at, stop)
            if at < 0:
                return NOT_AN_ANSWER
    return kind if at == stop else NOT_AN_ANSWER


@compiled
def _mark(data, start, stop, values):  # type: ignore[no-untyped-def]
    """Read a mark into `values`, if the line is one."""
    if stop - start <= len(MARK_CODES):
        return False
    for offset in range(len(MARK_CODES)):
        if data[start + offset] != MARK_CODES[offset]:
            return False
    values[0], at = _number(data, start + len(MARK_CODES), stop)
    return at == stop


@compiled
def _read(data, ends, widths, emits, seconds, first, until, kinds, values):  # type: ignore[no-untyped-def]
    """Read lines up to the first bad one, which counts; give how many."""
    start = 0
    for line in range(len(ends)):
        stop = ends[line]
        if stop > start and data[stop - 1] == RETURN:
            stop -= 1
        if _mark(data, start, stop, values[line]):
            kind, second = A_MARK, values[line, 0]
        else:
            kind = _answer(data, start, stop, widths, emits, values[line])
            second = values[line, seconds[kind]] if kind < A_MARK else 0
        if kind <= A_MARK and (second < first or second >= until):
            kind = NOT_SENT
        kinds[line] = kind
        if kind > A_MARK:
            return line + 1
        start = ends[line] + 1
    return len(ends)
