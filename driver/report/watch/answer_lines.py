"""The answers of a run as columns, as they come: `output.csv` is read on from where it was read last."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from driver.run.journal import OUTPUT
from polling_baseline.batch import ANSWER_KINDS, AnswerKind, Columns
from polling_baseline.refusal import Refusal

BLOCK = 1 << 23
NEWLINE = 10


class AnswerReader:
    """Follows the answers of a run that may be under way."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / OUTPUT
        self.length = 0

    @property
    def left(self) -> int:
        """How many bytes are there to be read."""
        return self._path.stat().st_size - self.length if self._path.exists() else 0

    def new_answers(self) -> Iterator[tuple[AnswerKind, Columns]]:
        """The answers in the next complete lines, BLOCK bytes at most, by kind; `emit_ms` is their Emit."""
        if self.left <= 0:
            return
        with self._path.open("rb") as file:
            file.seek(self.length)
            block = file.read(BLOCK)
        block = block[: block.rfind(b"\n") + 1]
        self.length += len(block)
        for kind in ANSWER_KINDS.values():
            if lines := _lines_of(kind, block):
                yield kind, self._columns(kind, lines)

    def _columns(self, kind: AnswerKind, lines: bytes) -> Columns:
        types = {name: pa.float64() if name == "emit" else pa.int64() for name in kind.fields}
        try:
            table = csv.read_csv(
                BytesIO(lines),
                csv.ReadOptions(use_threads=False, column_names=list(kind.fields)),
                csv.ParseOptions(quote_char=False),
                csv.ConvertOptions(column_types=types),
            )
            columns = {name: table[name].to_numpy() for name in kind.fields}
        except pa.ArrowInvalid:
            raise Refusal(f"{self._path} is damaged: its lines are not all answers; run it again") from None
        return {**columns, "emit_ms": np.rint(columns["emit"] * 1000).astype(np.int64)}


def _lines_of(kind: AnswerKind, block: bytes) -> bytes:
    """The lines that begin with the kind's number; those of one cycle lie together."""
    data = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(data == NEWLINE) + 1
    if not len(ends):
        return b""
    starts = np.r_[0, ends[:-1]]
    changes = np.diff(data[starts] == ord(str(kind.number)), prepend=False, append=False)
    borders = np.flatnonzero(changes).reshape(-1, 2)
    return b"".join(block[starts[first] : ends[last - 1]] for first, last in borders)
