"""A system's output file, as columns: any system's, so nothing is taken for granted but one answer per line.

Lines that are plainly answers are read a block at a time; those that are not, each by itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from driver.validate.file_parts import lines_in, with_one_line_end
from driver.validate.odd_lines import SECOND_US, Line, read_line
from polling_baseline.batch import ANSWER_KINDS, AnswerKind, Columns

# What plain lines are made of, and what one looks like.
PLAIN = b"0123456789,.-\n"
FORM = {"second": rb"-?\d{1,9}", "emit": rb"-?\d{1,11}(?:\.\d{1,6})?"}
INTEGER = rb"-?\d{1,18}"
EMIT = pa.decimal128(18, 6)
MICROSECONDS = pa.scalar(SECOND_US, pa.decimal128(7, 0))
SECONDS = 2**31
# `at` is the number of the line in its block.
RECEIVED = ("id", "second", "value_1", "value_2", "response_us", "at")


class NotPlain(Exception):
    """There is a line that is not plainly an answer."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of a file: how many, the answers among them by kind, and what is odd, with the line's number."""

    lines: int
    answers: dict[int, Columns]
    notes: Counter[str] = field(default_factory=Counter)
    odd: Sequence[tuple[int, str]] = ()


def read_block(block: bytes) -> Block:
    block = with_one_line_end(block)
    try:
        return _plain_block(block)
    except NotPlain:
        return _any_block(block)


def _plain_block(block: bytes) -> Block:
    if block.translate(None, PLAIN):
        raise NotPlain
    lines = lines_in(block)
    answers = {}
    for kind in ANSWER_KINDS.values():
        is_kind = pc.starts_with(lines, f"{kind.number},")
        at = np.flatnonzero(is_kind.to_numpy(zero_copy_only=False))
        if len(at):
            answers[kind.number] = _columns(kind, lines.filter(is_kind), at)
    if sum(len(columns["at"]) for columns in answers.values()) < len(lines):
        raise NotPlain
    return Block(len(lines), answers)


def _columns(kind: AnswerKind, lines: pa.Array, at: npt.NDArray[np.int64]) -> Columns:
    text = pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), "\n")[0].as_buffer()
    types = {name: EMIT if name == "emit" else pa.int64() for name in kind.fields}
    try:
        table = csv.read_csv(
            pa.BufferReader(text),
            csv.ReadOptions(use_threads=False, column_names=list(kind.fields)),
            csv.ParseOptions(quote_char=False, newlines_in_values=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False),
        )
        emit_us = pc.cast(pc.multiply(table["emit"], MICROSECONDS), pa.int64())
    except pa.ArrowInvalid:
        raise NotPlain from None
    second = table["second"].to_numpy()
    if len(emit_us) != len(lines) or (second < -SECONDS).any() or (second >= SECONDS).any():
        raise NotPlain
    values = [table[name].to_numpy() for name in kind.values]
    return {
        "id": table[kind.id].to_numpy(),
        "second": second,
        "value_1": values[0],
        "value_2": values[1] if len(values) > 1 else np.zeros(len(at), np.int64),
        "response_us": emit_us.to_numpy() - second * SECOND_US,
        "at": at,
    }


def _form(kind: AnswerKind) -> re.Pattern[bytes]:
    fields = [FORM.get(name, INTEGER) for name in kind.fields[1:]]
    return re.compile(b",".join([b"%d" % kind.number, *fields]))


FORMS = {b"%d" % kind.number: (kind, _form(kind)) for kind in ANSWER_KINDS.values()}


def _any_block(block: bytes) -> Block:
    """Line by line: the plain ones are put together again, the others are read for themselves."""
    lines = block.removesuffix(b"\n").split(b"\n")
    plain: dict[str, list[int]] = {}
    others: list[tuple[int, Line]] = []
    notes: Counter[str] = Counter()
    odd = []
    for number, line in enumerate(lines):
        kind, form = FORMS.get(line[:1], (None, None))
        if kind and form and form.fullmatch(line):
            plain.setdefault(kind.name, []).append(number)
            continue
        text = line.decode("utf-8", "replace")
        read = read_line(text)
        if read.note:
            notes[read.note] += 1
            odd.append((number, text))
        if read.kind:
            others.append((number, read))
    parts = list(_read_apart(lines, plain, others))
    answers = {kind: _joined([columns for other, columns in parts if other == kind]) for kind, _ in parts}
    return Block(len(lines), answers, notes, odd)


def _read_apart(
    lines: Sequence[bytes], plain: dict[str, list[int]], others: Sequence[tuple[int, Line]]
) -> Iterator[tuple[int, Columns]]:
    for name, numbers in plain.items():
        kind = ANSWER_KINDS[name]
        yield kind.number, _columns(kind, pa.array([lines[at] for at in numbers], pa.string()), np.array(numbers))
    for kind in ANSWER_KINDS.values():
        rows = [
            (line.id, line.second, line.value_1, line.value_2, line.response_us, at)
            for at, line in others
            if line.kind is kind
        ]
        if rows:
            yield kind.number, dict(zip(RECEIVED, np.array(rows, np.int64).T, strict=True))


def _joined(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in RECEIVED}
