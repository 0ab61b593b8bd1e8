"""An output file at one look: what came of each kind to each minute, in which time, what is odd, and where what stands.

It tells minutes whose answers are all right from those that are to be looked at answer by answer.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from driver.dataset.packed_file import is_packed, opened
from driver.run.limits import Limits
from driver.spark.units import run_job
from driver.validate.copies import original_ids
from driver.validate.file_parts import blocks_of, parts_of
from driver.validate.fingerprint import PLACES, Heap, heap_of, place_in_time
from driver.validate.odd_lines import SECOND_US
from driver.validate.received import Block, read_block
from driver.validate.reference.requests import twin_seconds
from driver.validate.reference.right_answers import BALANCE, RightAnswers
from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS, Columns
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from driver.dataset.folder import Dataset
    from driver.validate.reference.money import Accounts

KINDS = range(len(spec.ANSWERS))
# A cell is a kind of answer and a minute of the input that it belongs to.
Cells = npt.NDArray[np.bool_]
MOST_EXAMPLES, EXAMPLE_CUT = 5, 120


@dataclass(frozen=True, slots=True)
class Times:
    """How many answers came in which response time."""

    response_us: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def __add__(self, other: Times) -> Times:
        response_us, places = np.unique(np.r_[self.response_us, other.response_us], return_inverse=True)
        counts = np.bincount(places, np.r_[self.counts, other.counts], len(response_us)).astype(np.int64)
        return Times(response_us, counts)

    def without(self, other: Times) -> Times:
        rest = self + Times(other.response_us, -other.counts)
        return Times(rest.response_us[rest.counts > 0], rest.counts[rest.counts > 0])


def times_of(response_us: npt.NDArray[np.int64]) -> Times:
    return Times(*np.unique(response_us, return_counts=True))


@dataclass(frozen=True, slots=True)
class Span:
    """Some lines of the file: where they begin, how many bytes and lines they have, and the cells they answer to."""

    offset: int
    size: int
    first_line: int
    lines: int
    cells: npt.NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Overview:
    """What a part of a file, or all of it, has."""

    heaps: dict[int, Heap]
    times: dict[int, Times]
    # The minutes that have a balance that is wrong, and the cells with an answer that is late or early.
    wrong_balances: npt.NDArray[np.bool_]
    out_of_time: Cells
    spans: Sequence[Span]
    notes: Counter[str]
    # The first odd lines, with their numbers.
    examples: Sequence[tuple[int, str]]
    # The latest Emit.
    latest_us: int = 0

    @property
    def lines(self) -> int:
        return sum(span.lines for span in self.spans)


@dataclass(frozen=True, slots=True)
class Measure:
    """What a task needs to take the overview of a part."""

    dataset: Dataset
    seed: int
    accounts: Accounts
    limits: Limits


def no_overview() -> Overview:
    """That of nothing."""
    nothing, cells = dict.fromkeys(KINDS, Times()), np.zeros((len(KINDS), PLACES), bool)
    return Overview(dict.fromkeys(KINDS, Heap()), nothing, cells[0], cells, [], Counter(), [])


def take_overview(right: RightAnswers, output: Path, limits: Limits) -> Overview:
    """That of a whole file, which must not change meanwhile."""
    output = output.absolute()
    before = version_of(output)
    context = right.spark.sparkContext
    parts = parts_of(output, context.defaultParallelism)
    shared = context.broadcast(Measure(right.dataset, right.seed, right.accounts, limits))

    def look(part: tuple[int, int]) -> Overview:
        return overview_of(shared.value, output, *part)

    seen = run_job(right.spark, context.parallelize(parts, len(parts)).map(look).collect)
    shared.unpersist()
    see_that_it_is_the_same(output, before)
    return put_together(seen)


def version_of(output: Path) -> tuple[int, int]:
    """Other numbers after a file has changed."""
    state = output.stat()
    return state.st_size, state.st_mtime_ns


def see_that_it_is_the_same(output: Path, before: tuple[int, int]) -> None:
    if version_of(output) != before:
        raise Refusal(f"{output} has changed while it was judged; judge it when it is complete")


def overview_of(measure: Measure, output: Path, start: int, stop: int) -> Overview:
    """That of the lines that begin in a part of a file."""
    heaps, notes = dict.fromkeys(KINDS, Heap()), Counter[str]()
    times: dict[int, list[npt.NDArray[np.int64]]] = {kind: [] for kind in KINDS}
    wrong_balances, out_of_time = np.zeros(PLACES, bool), np.zeros((len(KINDS), PLACES), bool)
    spans: list[Span] = []
    examples: list[tuple[int, str]] = []
    line, latest_us = 1, 0
    with opened(output) as (file, _):
        for offset, data in blocks_of(file, start, stop):
            block = read_block(data)
            for kind, columns in block.answers.items():
                heaps[kind] += _heap(measure, kind, columns)
                times[kind].append(columns["response_us"])
                latest_us = max(latest_us, int((columns["response_us"] + columns["second"] * SECOND_US).max()))
                place, response = place_in_time(columns["second"]), columns["response_us"]
                out_of_time[kind, place[(response < 0) | (response > limit_us(measure.limits, kind))]] = True
                if kind == BALANCE:
                    wrong_balances[place[~_right_balances(measure, columns)]] = True
            notes += block.notes
            for at, text in block.odd[: MOST_EXAMPLES - len(examples)]:
                examples.append((line + at, text[:EXAMPLE_CUT]))
            spans.append(Span(offset, len(data), line, block.lines, _cells(block)))
            line += block.lines
    together = {kind: times_of(np.concatenate([np.zeros(0, np.int64), *parts])) for kind, parts in times.items()}
    return Overview(heaps, together, wrong_balances, out_of_time, spans, notes, examples, latest_us)


def limit_us(limits: Limits, kind: int) -> int:
    return round(limits[spec.ANSWERS[kind]] * SECOND_US)


def _heap(measure: Measure, kind: int, columns: Columns) -> Heap:
    values = () if kind == BALANCE else ("value_1", "value_2")[: len(ANSWER_KINDS[spec.ANSWERS[kind]].values)]
    return heap_of(measure.seed, columns["id"], columns["second"], *(columns[name] for name in values))


def _right_balances(measure: Measure, columns: Columns) -> npt.NDArray[np.bool_]:
    query = original_ids(measure.dataset, columns["id"])
    return measure.accounts.right(query, columns["second"], columns["value_1"], columns["value_2"])


def _cells(block: Block) -> npt.NDArray[np.int16]:
    cells = [kind * PLACES + place_in_time(columns["second"]) for kind, columns in block.answers.items()]
    return np.unique(np.concatenate([np.zeros(0, np.int64), *cells])).astype(np.int16)


def put_together(parts: Sequence[Overview]) -> Overview:
    before = [0, *accumulate(part.lines for part in parts)]
    numbered = list(zip(before, parts, strict=False))
    return Overview(
        {kind: sum((part.heaps[kind] for part in parts), Heap()) for kind in KINDS},
        {kind: sum((part.times[kind] for part in parts), Times()) for kind in KINDS},
        np.logical_or.reduce([part.wrong_balances for part in parts]),
        np.logical_or.reduce([part.out_of_time for part in parts]),
        [replace(span, first_line=line + span.first_line) for line, part in numbered for span in part.spans],
        sum((part.notes for part in parts), Counter()),
        [(line + number, text) for line, part in numbered for number, text in part.examples][:MOST_EXAMPLES],
        max(part.latest_us for part in parts),
    )


def differing_cells(right: RightAnswers, overview: Overview) -> Cells:
    """The kinds and minutes whose answers are not all right, or not to be told apart by QID and Time."""
    cells = np.zeros((len(KINDS), PLACES), bool)
    for kind in KINDS:
        expected, came = right.heaps[kind], overview.heaps[kind]
        cells[kind] = (expected.counts != came.counts) | (expected.totals != came.totals)
        if kind in right.answers:
            cells[kind, place_in_time(twin_seconds(right.answers[kind]))] = True
    # Which balances are wrong was told by the specification's own reading.
    doubtful = overview.heaps[BALANCE].counts > 0 if right.accidents_end_early else overview.wrong_balances
    cells[BALANCE] |= doubtful
    return cells


def spans_with(overview: Overview, cells: Cells) -> list[Span]:
    """The parts of the file that have answers to any of these."""
    flat = cells.ravel()
    return [span for span in overview.spans if flat[span.cells].any()]


def read_spans(output: Path, spans: Sequence[Span]) -> Iterator[tuple[Span, bytes]]:
    """Their lines; what is packed is read from the beginning."""
    packed = is_packed(output)
    with opened(output) as (file, _):
        if packed:
            by_offset = {span.offset: span for span in spans}
            for offset, block in blocks_of(file, 0, sys.maxsize):
                if offset in by_offset:
                    yield by_offset[offset], block
            return
        for span in spans:
            file.seek(span.offset)
            yield span, file.read(span.size)
