"""What a run that was killed has left on disk, cut back to what is complete.

`cycles.csv` is the journal: a cycle's line is written when its answers are in `output.csv`, and says how long that file
was then.  So a file that ends in the middle of a cycle, or of a line, is cut back to the last line of the journal.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from driver.run.poller import Cycle
from driver.run.recording import CYCLE_COLUMNS, EMIT_POSITION, Responses
from polling_baseline import spec
from polling_baseline.refusal import Refusal
from polling_baseline.wording import command_line


@dataclass(frozen=True, slots=True)
class Kept:
    """The cycles that are complete, and how long both files are up to them."""

    cycles: list[Cycle]
    cycles_bytes: int
    output_bytes: int

    @property
    def next_second(self) -> int | None:
        return self.cycles[-1].seconds.stop if self.cycles else None


def read_kept(folder: Path, until: int) -> Kept:
    """The complete cycles of the seconds before `until`; changes nothing."""
    journal, output = folder / "cycles.csv", folder / "output.csv"
    if not journal.exists() or not output.exists():
        return Kept([], 0, 0)
    size = output.stat().st_size
    complete = itertools.takewhile(
        lambda entry: entry[0].seconds.stop <= until and entry[2] <= size, _journal(journal.read_bytes())
    )
    entries = list(complete)
    return Kept([cycle for cycle, _, _ in entries], *(entries[-1][1:] if entries else (0, 0)))


def cut_back(folder: Path, kept: Kept) -> dict[str, Responses]:
    """Cut both files to what is kept, and give the response times of the answers in it."""
    for name, size in (("cycles.csv", kept.cycles_bytes), ("output.csv", kept.output_bytes)):
        with (folder / name).open("ab") as file:
            file.truncate(size)
    return _responses(folder / "output.csv") if kept.output_bytes else {}


def _journal(data: bytes) -> Iterator[tuple[Cycle, int, int]]:
    """Each cycle with the length of the journal up to it, and of the output; a torn line ends it."""
    header, *lines = data[: data.rfind(b"\n") + 1].splitlines(keepends=True) or [b""]
    names = header.decode("ascii", "replace").rstrip("\n").split(",")
    length = len(header)
    for line in lines:
        length += len(line)
        try:
            [values] = csv.reader(io.StringIO(line.decode("ascii")))
            row = dict(zip(names, map(float, values), strict=True))
            yield _cycle(row), length, int(row["output_bytes"])
        except (ValueError, KeyError):
            return


def _cycle(row: dict[str, float]) -> Cycle:
    return Cycle(
        seconds=range(int(row["first_second"]), int(row["last_second"]) + 1),
        rows=int(row["rows"]),
        due=row["due"],
        started=row["started"],
        committed=row["committed"],
        ended=row["ended"],
        backlog_s=int(row["backlog_s"]),
        steps={name: value for name, value in row.items() if name not in CYCLE_COLUMNS},
    )


def _responses(output: Path) -> dict[str, Responses]:
    """Time and Emit of every answer, by kind; lines differ in length, so they are read whole and split."""
    table = pa.csv.read_csv(
        output,
        pa.csv.ReadOptions(column_names=["line"]),
        pa.csv.ParseOptions(delimiter="\t", quote_char=False),
        pa.csv.ConvertOptions(column_types={"line": pa.string()}),
    )
    fields = pc.split_pattern(table["line"], ",")
    kinds = pc.list_element(fields, 0).cast(pa.int8()).to_numpy()
    found: dict[str, Responses] = {}
    for number, kind in enumerate(spec.ANSWERS):
        mine = fields.filter(pa.array(kinds == number))
        if len(mine):
            emit_at = EMIT_POSITION[kind] + 1
            seconds = pc.list_element(mine, emit_at - 1).cast(pa.int32()).to_numpy()
            emits = pc.list_element(mine, emit_at).cast(pa.float64()).to_numpy()
            found[kind] = Responses()
            # Those of one cycle lie together.
            borders = np.flatnonzero(np.diff(emits)) + 1
            for part, start in zip(np.split(seconds, borders), (0, *borders), strict=True):
                found[kind].add(part, float(emits[start]))
    return found


def refuse_gap(kept: Kept, last: range | None, first_second: int, folder: Path) -> None:
    """The engine has the answers of its last cycle only; those of earlier ones must be in the files."""
    have = kept.next_second or first_second
    if last is not None and have not in (last.start, last.stop):
        raise Refusal(
            f"{folder}/output.csv lacks the answers of seconds {have} to {last.start - 1}, which are nowhere else; "
            f"start again with {command_line('run', '--like', folder)}"
        )
