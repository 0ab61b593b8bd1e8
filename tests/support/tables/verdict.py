"""What the tables say of an output file."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from driver.run.verdict import AnswerVerdict
from driver.validate.judge import Question
from driver.validate.odd_lines import NOTES
from polling_baseline import spec
from tests.support.tables import BALANCE, Reference
from tests.support.tables.readings import read_leniently
from tests.support.tables.received import answers_of, received_of
from tests.support.tables.tally import JUDGED, answer_verdicts, by_response, count_faults, judged_balances, tally

KindCounts = dict[str, AnswerVerdict]
END = {False: "specification", True: "a minute earlier"}


@dataclass(frozen=True, slots=True)
class Opinion:
    """The parts of `verdict.json` that take counting."""

    answers: KindCounts
    accidents_end: str
    lines: dict[str, int]


def opinion_of(right: Reference, question: Question) -> Opinion:
    fit, answers = _best_fit(question, right)
    lines = _line_counts(received_of(right.spark, question.output))
    return Opinion(answers, END[fit.accidents_end_early], lines)


def _tallied(question: Question, right: Reference) -> DataFrame:
    """A row per answer that is expected or came."""
    received = received_of(right.spark, question.output)
    answers = answers_of(received)
    if question.reading.lenient:
        answers = read_leniently(right, answers, question.reading)
    others = answers.filter(F.col("kind") != BALANCE).select(JUDGED)
    balances = judged_balances(right, answers_of(received.filter(F.col("kind") == BALANCE)), question.reading)
    return tally(right.expected, others.union(balances), question.xways, question.limits)


def _count(question: Question, right: Reference) -> KindCounts:
    return answer_verdicts(by_response(_tallied(question, right)))


def _line_counts(received: DataFrame) -> dict[str, int]:
    """How many lines there are, and how many of each note."""
    counts = {row.note: row["count"] for row in received.groupBy("note").count().collect()}
    return {"total": sum(counts.values()), **{note: counts.get(note, 0) for note in NOTES}}


def _best_fit(question: Question, right: Reference) -> tuple[Reference, KindCounts]:
    """What the verdict counts; read leniently, by the reading of an accident's end that fits all answers better."""
    counted = _count(question, right)
    if not question.reading.lenient or not count_faults(counted):
        return right, counted
    other = right.with_accidents_that_end_early()
    other_counted = _count(question, other)
    if count_faults(other_counted) >= count_faults(counted):
        return right, counted
    for row in right.expected.exceptAll(other.expected).groupBy("kind").count().collect():
        other_counted[spec.ANSWERS[row["kind"]]]["lenient"] += row["count"]
    return other, other_counted
