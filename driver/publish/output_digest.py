"""The digest of an output file, as docs/digests.md defines it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from driver.validate.digest import HEADING
from driver.validate.fingerprint import Heap, heap_of
from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS, AnswerKind

BLOCK_BYTES = 1 << 24
# A balance may be as of several moments, so the moment does not count.
LEFT_OUT = "result_second"
Digest = Mapping[tuple[str, str], tuple[int, str]]


def output_digest(output: Path) -> list[str] | None:
    """The lines of the digest; None if a line of the file is no answer, or none to a second of a run."""
    heaps = {kind: Heap() for kind in spec.ANSWERS}
    try:
        for lines in _blocks(output):
            _enter(lines, heaps)
    except (pa.ArrowException, ValueError, UnicodeDecodeError):
        return None
    if any(heap.counts[-1] for heap in heaps.values()):
        return None
    return [HEADING, *(line for kind, heap in heaps.items() for line in _lines(kind, heap))]


def _blocks(output: Path) -> Iterator[pa.Array]:
    """Some whole lines at a time."""
    with output.open("rb") as file:
        rest = b""
        while block := file.read(BLOCK_BYTES):
            whole, newline, rest = (rest + block).rpartition(b"\n")
            if newline:
                yield pa.array(whole.decode("ascii").split("\n"), pa.string())
        if rest:
            yield pa.array([rest.decode("ascii")], pa.string())


def _enter(lines: pa.Array, heaps: dict[str, Heap]) -> None:
    known = 0
    for name, kind in ANSWER_KINDS.items():
        of_kind = lines.filter(pc.starts_with(lines, f"{kind.number},"))
        known += len(of_kind)
        if len(of_kind):
            heaps[name] += _heap(kind, of_kind)
    if known < len(lines):
        raise ValueError("a line is no answer")


def _heap(kind: AnswerKind, lines: pa.Array) -> Heap:
    fields = pc.split_pattern(lines, ",")
    if pc.min_max(pc.list_value_length(fields)).as_py() != {"min": len(kind.fields), "max": len(kind.fields)}:
        raise ValueError("a line has too few fields, or too many")
    columns = {
        name: pc.list_element(fields, place).cast(pa.int64()).to_numpy()
        for place, name in enumerate(kind.fields)
        if name not in ("kind", "emit", LEFT_OUT)
    }
    values = [columns[name] for name in kind.values if name != LEFT_OUT]
    return heap_of(0, columns[kind.id], columns["second"], *values)


def _lines(kind: str, heap: Heap) -> Iterator[str]:
    yield f"{kind},all,{heap.answers},{int(np.add.reduce(heap.totals, dtype=np.uint64)):016x}"
    for place in np.flatnonzero(heap.counts).tolist():
        yield f"{kind},{place + 1},{heap.counts[place]},{int(heap.totals[place]):016x}"


def parsed_digest(lines: list[str]) -> Digest:
    """Answers and fingerprint by kind and minute; refuses nothing, a line of another form is left out."""
    rows = [line.split(",") for line in lines[1:]]
    plain = [row for row in rows if len(row) == 4 and row[2].isascii() and row[2].isdecimal() and len(row[2]) < 19]
    return {(row[0], row[1]): (int(row[2]), row[3]) for row in plain}
