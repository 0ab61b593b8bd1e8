"""Expected and received answers brought together: those of the minutes that differ, in parts by time.

What a part has fits into memory; it is a few arrays, moved by Spark from those who computed or read them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from driver.run.limits import Limits
from driver.spark.units import run_job
from driver.validate.copies import copied
from driver.validate.fingerprint import PLACES, place_in_time
from driver.validate.overview import KINDS, Cells, Overview, Span, read_spans, spans_with
from driver.validate.reading import Reading
from driver.validate.readings import Acceptance
from driver.validate.received import read_block
from driver.validate.reference.right_answers import ACCIDENT, TOLL, RightAnswers, SliceSummary
from driver.validate.tally import CAME, EXPECTED, Counts, count, no_counts, tally
from polling_baseline.batch import Columns

if TYPE_CHECKING:
    from pyspark import RDD

Result = TypeVar("Result")
# A part has so many answers, expected and received, and a task reads so many bytes of the file.
LEAST_ROWS, MOST_ROWS = 250_000, 2_000_000
LARGEST_READ = 1 << 26


@dataclass(frozen=True, slots=True)
class Plan:
    """The cells that are looked at, and which part each minute goes to; the answers of a large one to several."""

    cells: Cells
    part: npt.NDArray[np.int64]
    splits: npt.NDArray[np.int64]
    parts: int

    def chosen(self, kind: int, rows: Columns) -> Columns:
        inside = self.cells[kind, place_in_time(rows["second"])]
        return {name: column[inside] for name, column in rows.items()}

    def divided(self, kind: int, rows: Columns, names: Sequence[str]) -> Iterator[tuple[int, Columns]]:
        """The rows of each part, with these columns."""
        if not len(rows["id"]):
            return
        place = place_in_time(rows["second"])
        part = self.part[place] + rows["id"] % self.splits[place]
        columns = {**rows, "kind": np.full(len(place), kind, np.int8)}
        order = np.argsort(part, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(part[order]) > 0])
        for rows_of_part in np.split(order, starts[1:]):
            own = {name: columns[name][rows_of_part].astype(np.int8 if name == "kind" else np.int64) for name in names}
            yield int(part[rows_of_part[0]]), own


def plan_for(cells: Cells, rows: npt.NDArray[np.int64], tasks: int) -> Plan:
    """For so many rows by kind and minute."""
    by_place = np.where(cells, rows, 0).sum(axis=0)
    target = np.clip(by_place.sum() // tasks, LEAST_ROWS, MOST_ROWS)
    splits = np.maximum(-(-by_place // MOST_ROWS), 1)
    part, number, size = np.zeros(PLACES, np.int64), 0, 0
    for place in range(PLACES):
        if size and size + by_place[place] > target:
            number, size = number + 1, 0
        part[place] = number
        size += by_place[place]
        if splits[place] > 1:
            number, size = number + splits[place], 0
    return Plan(cells, part, splits, int(number) + 1)


@dataclass(frozen=True, slots=True)
class Terms:
    """By what the answers of a part are judged."""

    limits: Limits
    acceptance: Acceptance


@dataclass(frozen=True)
class Comparison:
    """The answers of the cells that are looked at, expected and received, by part."""

    right: RightAnswers
    parts: RDD[Any]
    terms: Any

    def count(self) -> Counts:
        return reduce(lambda one, other: one + other, self.each(_counted), no_counts())

    def each(self, look: Callable[[int, Columns, Columns, Columns], Result]) -> list[Result]:
        """What each part's number, tallied, expected and received answers give, in the order of time."""
        terms = self.terms

        def judge(number: int, pieces: Iterable[tuple[int, Columns]]) -> Iterator[Result]:
            expected, came = _put_together([columns for _, columns in pieces])
            yield look(number, tally(expected, came, terms.value.limits, terms.value.acceptance), expected, came)

        return run_job(self.right.spark, self.parts.mapPartitionsWithIndex(judge).collect)


def _counted(number: int, tallied: Columns, expected: Columns, came: Columns) -> Counts:
    return count(tallied, came)


def _put_together(pieces: Sequence[Columns]) -> tuple[Columns, Columns]:
    def together(names: Sequence[str], parts: Sequence[Columns]) -> Columns:
        types = {"kind": np.int8, "chosen": bool}
        empty = {name: np.zeros(0, types.get(name, np.int64)) for name in names}
        return {name: np.concatenate([part[name] for part in (empty, *parts)]) for name in names}

    came = [piece for piece in pieces if "response_us" in piece]
    expected = [piece for piece in pieces if "response_us" not in piece]
    both = together(EXPECTED, expected), together(CAME, came)
    both[0]["chosen"] = both[0]["chosen"].astype(bool)
    return both


def compare(
    right: RightAnswers,
    overview: Overview,
    output: Path,
    cells: Cells,
    xways: tuple[int, ...] | None,
    reading: Reading,
    limits: Limits,
) -> Comparison:
    context = right.spark.sparkContext
    rows = np.array([right.heaps[kind].counts + overview.heaps[kind].counts for kind in KINDS])
    plan = plan_for(cells, rows, context.defaultParallelism)
    accounts = right.complete_accounts if reading.lenient else right.accounts
    terms = context.broadcast(Terms(limits, Acceptance(reading, accounts)))
    pieces = expected_pieces(right, plan, xways).union(_received(right, overview, output, plan))
    return Comparison(right, pieces.partitionBy(plan.parts, int), terms)


def expected_pieces(right: RightAnswers, plan: Plan, xways: tuple[int, ...] | None) -> RDD[Any]:
    """The right answers by part, those of all copies; `chosen` are those of some expressways."""
    return _notifications(right, plan, xways).union(_answers(right, plan, xways))


def _expected(right: RightAnswers, plan: Plan, xways: tuple[int, ...] | None) -> Callable[..., Iterator[Any]]:
    """What gives, from the answers of one kind to the distinct expressways, those of all copies by part."""
    dataset = right.dataset

    def divide(kind: int, rows: Columns) -> Iterator[tuple[int, Columns]]:
        if not len(rows["id"]):
            return
        for copy in copied(dataset, plan.chosen(kind, rows)):
            chosen = np.ones(len(copy["id"]), bool) if xways is None else np.isin(copy["xway"], xways)
            yield from plan.divided(kind, {**copy, "chosen": chosen}, EXPECTED)

    return divide


def _notifications(right: RightAnswers, plan: Plan, xways: tuple[int, ...] | None) -> RDD[Any]:
    shared = right.spark.sparkContext.broadcast(right.conditions)
    divide = _expected(right, plan, xways)
    minutes = plan.cells[TOLL] | plan.cells[ACCIDENT]

    def notify(look: SliceSummary) -> Iterator[tuple[int, Columns]]:
        inside = minutes[place_in_time(look.crossings["second"])]
        crossings = {name: column[inside] for name, column in look.crossings.items()}
        for kind, rows in shared.value.notifications(crossings).items():
            yield from divide(kind, rows)

    return right.looks.flatMap(notify)


def _answers(right: RightAnswers, plan: Plan, xways: tuple[int, ...] | None) -> RDD[Any]:
    units = [(kind, plan.chosen(kind, rows)) for kind, rows in right.answers.items()]
    divide = _expected(right, plan, xways)
    return right.spark.sparkContext.parallelize(units, len(units)).flatMap(lambda unit: divide(*unit))


def _received(right: RightAnswers, overview: Overview, output: Path, plan: Plan) -> RDD[Any]:
    output = output.absolute()
    reads = _reads(spans_with(overview, plan.cells))

    def read(spans: Sequence[Span]) -> Iterator[tuple[int, Columns]]:
        for span, data in read_spans(output, spans):
            for kind, columns in read_block(data).answers.items():
                rows = plan.chosen(kind, {**columns, "line": span.first_line + columns["at"]})
                yield from plan.divided(kind, rows, CAME)

    return right.spark.sparkContext.parallelize(reads, max(len(reads), 1)).flatMap(read)


def _reads(spans: Sequence[Span]) -> list[list[Span]]:
    """Some spans for each task."""
    reads: list[list[Span]] = []
    size = LARGEST_READ
    for span in spans:
        if size + span.size > LARGEST_READ:
            reads.append([])
            size = 0
        reads[-1].append(span)
        size += span.size
    return reads
