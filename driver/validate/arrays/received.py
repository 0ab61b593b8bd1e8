"""A system's output file as columns, if every line of it is plainly an answer; else the tables read it line by line."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from driver.dataset.packed_file import opened
from driver.validate.input_files import blocks_of, lines_in
from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS, AnswerKind, Columns

# What a plain line is made of.
PLAIN = b"0123456789,.-\n"
EMIT = pa.decimal128(18, 6)
SECOND_US = 1_000_000
MICROSECONDS = pa.scalar(SECOND_US, pa.decimal128(7, 0))


class NotPlain(Exception):
    """There is a line that is not plainly an answer."""


def plain_answers(output: Path, start: int, stop: int) -> Iterator[tuple[AnswerKind, Columns]]:
    """The answers of the lines that begin in a part of a file, some at a time, with `response_us`; or NotPlain."""
    with opened(output) as (file, _):
        for block in blocks_of(file, start, stop):
            if block.translate(None, PLAIN):
                raise NotPlain
            lines = lines_in(block)
            parsed = 0
            for kind in ANSWER_KINDS.values():
                of_kind = lines.filter(pc.starts_with(lines, f"{kind.number},"))
                if len(of_kind):
                    yield kind, _columns(kind, of_kind)
                parsed += len(of_kind)
            if parsed < len(lines):
                raise NotPlain


def _columns(kind: AnswerKind, lines: pa.Array) -> Columns:
    text = pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), "\n")[0].as_py()
    types = {name: EMIT if name == "emit" else pa.int64() for name in kind.fields}
    try:
        table = csv.read_csv(
            BytesIO(text.encode()),
            csv.ReadOptions(use_threads=False, column_names=list(kind.fields)),
            csv.ParseOptions(quote_char=False, newlines_in_values=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False),
        )
        emit_us = pc.cast(pc.multiply(table["emit"], MICROSECONDS), pa.int64())
    except pa.ArrowInvalid:
        raise NotPlain from None
    columns = {name: table[name].to_numpy() for name in kind.columns}
    if len(emit_us) != len(lines) or ((columns["second"] < 0) | (columns["second"] >= spec.RUN_SECONDS)).any():
        raise NotPlain
    return {**columns, "response_us": emit_us.to_numpy() - columns["second"] * SECOND_US}
