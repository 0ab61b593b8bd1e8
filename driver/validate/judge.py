"""The whole way from a data set and an output file to a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from driver.dataset.folder import Dataset
from driver.dataset.relabel import dataset_label
from driver.run.limits import Limits, limits_in_force
from driver.run.verdict import FORMAT, AnswerVerdict, LineCounts, Verdict
from driver.spark.session import session
from driver.validate.comparison import Comparison, compare
from driver.validate.odd_lines import NOTES
from driver.validate.overview import (
    Cells,
    Overview,
    differing_cells,
    see_that_it_is_the_same,
    take_overview,
    version_of,
)
from driver.validate.reading import STRICT, Reading
from driver.validate.reference.right_answers import RightAnswers, right_answers
from driver.validate.tally import answer_verdicts, count_faults, no_counts
from polling_baseline import spec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KindCounts = dict[str, AnswerVerdict]


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be judged against what, and how."""

    dataset: Dataset
    output: Path
    seconds: range
    xways: tuple[int, ...] | None = None
    reading: Reading = STRICT
    # What each kind of answer is allowed, in seconds.
    limits: Limits = field(default_factory=limits_in_force)


@dataclass(frozen=True)
class Judgement:
    """The verdict, and what explains it."""

    verdict: Verdict
    question: Question
    right: RightAnswers
    overview: Overview
    # The answers that were compared one by one.
    compared: Comparison | None

    @cached_property
    def comparison(self) -> Comparison | None:
        """The answers of all minutes that have faults, late ones included; None if there are none."""
        cells = _cells(self.question, self.right, self.overview)
        late = self.overview.out_of_time & ~cells
        return compare_cells(self.question, self.right, self.overview, cells | late) if late.any() else self.compared


def quiet_session(master: str) -> SparkSession:
    return session(master)


def reference_for(spark: SparkSession, question: Question) -> AbstractContextManager[RightAnswers]:
    """What a question is judged by; all questions about one part of one data set can share it."""
    return right_answers(spark, question.dataset, question.seconds)


@contextmanager
def judged(
    spark: SparkSession,
    question: Question,
    announce: Callable[[str], None] = lambda phase: None,
    right: RightAnswers | None = None,
) -> Iterator[Judgement]:
    """Judge, and keep what explains the verdict until the block ends; `announce` hears what is being done.

    `right` is the question's reference, if there is one already.
    """
    if right is None:
        announce("computing the right answers")
    with nullcontext(right) if right else reference_for(spark, question) as right:
        before = version_of(question.output)
        announce("comparing the answers")
        overview = take_overview(right, question.output, question.limits)
        right, counted, comparison = _best_fit(question, right, overview, announce)
        see_that_it_is_the_same(question.output, before)
        lines = lines_of(overview.lines, overview.notes, overview.examples)
        verdict = verdict_of(question, counted, lines, right.accidents_end_early)
        yield Judgement(verdict, question, right, overview, comparison)


def lines_of(total: int, notes: Mapping[str, int], examples: Iterable[tuple[int, str]]) -> LineCounts:
    """What `verdict.json` says of the lines of a file."""
    counts = {"total": total, **{note: notes[note] for note in NOTES}}
    return cast(LineCounts, {**counts, "examples": [list(example) for example in examples]})


def verdict_of(
    question: Question, counted: KindCounts, lines: LineCounts, accidents_end_early: bool = False
) -> Verdict:
    return {
        "format": FORMAT,
        "verdict": "FAIL" if count_faults(counted) or lines["malformed"] else "PASS",
        "dataset": dataset_label(question.dataset),
        "minutes": [spec.minute_of(question.seconds.start), spec.minute_of(question.seconds.stop - 1)],
        "xways": "all" if question.xways is None else list(question.xways),
        "lenient": question.reading.lenient,
        "accidents_end": "a minute earlier" if accidents_end_early else "specification",
        "answers": counted,
        "limits": dict(question.limits),
        "lines": lines,
    }


def _best_fit(
    question: Question, right: RightAnswers, overview: Overview, announce: Callable[[str], None]
) -> tuple[RightAnswers, KindCounts, Comparison | None]:
    """What the verdict counts; read leniently, by the reading of an accident's end that fits all answers better."""
    counted, comparison = _counted(question, right, overview, announce)
    if not question.reading.lenient or not count_faults(counted):
        return right, counted, comparison
    announce("comparing with accidents that end a minute earlier")
    other = right.with_accidents_that_end_early()
    other_counted, other_comparison = _counted(question, other, overview, announce)
    if count_faults(other_counted) >= count_faults(counted):
        return right, counted, comparison
    for kind, others in other.others.items():
        other_counted[spec.ANSWERS[kind]]["lenient"] += others
    return other, other_counted, other_comparison


def _counted(
    question: Question, right: RightAnswers, overview: Overview, announce: Callable[[str], None]
) -> tuple[KindCounts, Comparison | None]:
    """The answers of minutes that are all right are counted as a whole, the others one by one."""
    cells = _cells(question, right, overview)
    if not cells.any():
        return answer_verdicts(overview.times, no_counts(), question.limits), None
    announce("comparing answer by answer where they differ")
    comparison = compare_cells(question, right, overview, cells)
    return answer_verdicts(overview.times, comparison.count(), question.limits), comparison


def _cells(question: Question, right: RightAnswers, overview: Overview) -> Cells:
    """What is compared answer by answer; all, if only some expressways count: an answer does not name its own."""
    cells = differing_cells(right, overview)
    return cells if question.xways is None else np.ones_like(cells)


def compare_cells(question: Question, right: RightAnswers, overview: Overview, cells: Cells) -> Comparison:
    return compare(right, overview, question.output, cells, question.xways, question.reading, question.limits)
