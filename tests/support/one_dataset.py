"""Many small roads in one data set, so that one Spark job judges them all.

Each road gets expressways, vehicles and queries of its own; what happens on it stays as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from driver.dataset.folder import (
    SEGMENT_SCHEMA,
    TOLL_SCHEMA,
    Dataset,
    TrafficWriter,
    describe,
    open_dataset,
    segment_path,
    toll_path,
    write_parquet,
)
from polling_baseline import spec
from polling_baseline.batch import INPUT_SCHEMA

TYPE, TIME, VID, XWAY, QID = 0, 1, 2, 4, 9
# Where VID or QID, Time and the values stand in an answer, by its type.
ID_AT, TIME_AT, VALUES_AT = (1, 2, 3, 2, 2), (2, 1, 1, 1, 1), ((3, 4), (3,), (2, 4), (3,), (3, 4))
Line = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Road:
    """Accepted input lines, history, and the answers (lines without Emit) that are right."""

    lines: Sequence[Line]
    toll_history: Mapping[tuple[int, int, int], int]
    segment_history: Iterable[Sequence[int]]
    answers: Sequence[Line] = ()


@dataclass(frozen=True, slots=True)
class Shift:
    """New numbers for one road's expressways, vehicles and queries."""

    xway: int
    vids: dict[int, int]
    qids: dict[int, int]

    def line(self, line: Line) -> Line:
        used = spec.USED[line[TYPE]]
        new = [value if name in ("Type", *used) else spec.UNUSED for name, value in zip(spec.FIELDS, line, strict=True)]
        new[VID] = self.vids[line[VID]]
        if line[TYPE] != spec.BALANCE:
            new[XWAY] += self.xway
        if line[TYPE] != spec.REPORT:
            new[QID] = self.qids[line[QID]]
        return tuple(new)

    def answer(self, answer: Line) -> Line:
        new = list(answer)
        at = ID_AT[answer[0]]
        new[at] = (self.vids if answer[0] < 2 else self.qids)[answer[at]]
        return tuple(new)


def output_line(answer: Sequence[int | str], emit_ms: int) -> str:
    at = TIME_AT[int(answer[0])] + 1
    return ",".join([*map(str, answer[:at]), f"{emit_ms / 1000:.3f}", *map(str, answer[at:])])


def one_dataset(roads: Sequence[Road], folder: Path, command: str = "import") -> tuple[Dataset, list[list[Line]]]:
    """Write the data set, and give the answers of each road; by `command` it claims to have been made so.

    It ends with the last minute that has input.
    """
    xway, vid, qid = 0, 1, 1
    lines, tolls, segments, answers = [], [], [], []
    for road in roads:
        vids = sorted({line[VID] for line in road.lines} | {key[0] for key in road.toll_history})
        qids = sorted({line[QID] for line in road.lines if line[TYPE] != spec.REPORT})
        shift = Shift(xway, _numbered(vids, vid), _numbered(qids, qid))
        lines += [(shift.line(line), xway) for line in road.lines]
        tolls += [(shift.vids[v], day, x + xway, toll) for (v, day, x), toll in road.toll_history.items()]
        segments += [(row[0], row[1], row[2] + xway, *row[3:]) for row in road.segment_history]
        answers.append([shift.answer(answer) for answer in road.answers])
        xway, vid, qid = xway + 1 + _last_xway(road), vid + len(vids), qid + len(qids)
    _write_traffic(folder, lines)
    _write_history(folder, tolls, segments)
    counts = {"reports": len(lines), "toll_history": len(tolls), "segment_history": len(segments)}
    options: dict[str, object] = {"command": command}
    seconds = max(spec.minute_of(line[TIME]) for line, _ in lines) * spec.MINUTE_S
    describe(folder, xways=float(xway), seconds=seconds, seed=None, counts=counts, options=options)
    return open_dataset(folder), answers


def _numbered(numbers: list[int], first: int) -> dict[int, int]:
    return {number: new for new, number in enumerate(numbers, first)}


def _last_xway(road: Road) -> int:
    named = [line[XWAY] for line in road.lines if line[TYPE] != spec.BALANCE]
    return max([0, *named, *[key[2] for key in road.toll_history], *[row[2] for row in road.segment_history]])


def _write_traffic(folder: Path, lines: Iterable[tuple[Line, int]]) -> None:
    by_xway: dict[int, list[Line]] = defaultdict(list)
    for line, home in lines:
        by_xway[home if line[TYPE] == spec.BALANCE else line[XWAY]].append(line)
    for xway, rows in by_xway.items():
        with TrafficWriter(folder, xway) as writer:
            for minute in sorted({spec.minute_of(row[TIME]) for row in rows}):
                here = [row for row in rows if spec.minute_of(row[TIME]) == minute]
                writer.write_minute(_table(here, INPUT_SCHEMA))


def _write_history(folder: Path, tolls: list[Line], segments: list[Line]) -> None:
    for name in ("toll", "segment"):
        (folder / "history" / name).mkdir(parents=True, exist_ok=True)
    if tolls:
        write_parquet(_table(sorted(tolls), TOLL_SCHEMA), toll_path(folder, 0, 0))
    files: dict[Path, list[Line]] = defaultdict(list)
    for row in segments:
        files[segment_path(folder, row[2], (row[0] - 1) // spec.WEEK_DAYS)].append(row)
    for path, rows in files.items():
        write_parquet(_table(sorted(rows), SEGMENT_SCHEMA), path)


def _table(rows: Sequence[Line], schema: pa.Schema) -> pa.Table:
    columns = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), schema, strict=True)]
    return pa.Table.from_arrays(columns, schema=schema)
