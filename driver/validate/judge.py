"""The whole way from a data set and an output file to a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import cast

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from driver.dataset.folder import Dataset
from driver.dataset.packed_file import opened
from driver.dataset.relabel import dataset_label
from driver.run.limits import Limits, limits_in_force
from driver.run.verdict import FORMAT, AnswerVerdict, LineCounts, Verdict
from driver.spark.session import session
from driver.validate.arrays.verdict import verdict_if_right
from driver.validate.reading import STRICT, Reading
from driver.validate.readings import read_leniently
from driver.validate.received import MALFORMED, NOTES, answers_of, received_of
from driver.validate.reference import BALANCE, Reference, reference
from driver.validate.tally import JUDGED, answer_verdicts, by_response, count_faults, judged_balances, tally
from polling_baseline import spec

EXAMPLES = 5
EXAMPLE_CUT = 120
SMALL_TABLE = "64MB"


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
    """The verdict, and the tables that explain it, which are made when they are asked for."""

    verdict: Verdict
    question: Question
    reference: Reference

    @cached_property
    def received(self) -> DataFrame:
        return received_of(self.reference.spark, self.question.output)

    @cached_property
    def tallied(self) -> DataFrame:
        return _tallied(self.question, self.reference)


def quiet_session(master: str) -> SparkSession:
    """A session whose shuffles fit its cores, and that sends small tables to all tasks instead of moving large ones."""
    spark = session(master)
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", SMALL_TABLE)
    spark.conf.set("spark.sql.shuffle.partitions", 2 * spark.sparkContext.defaultParallelism)
    return spark


def reference_for(spark: SparkSession, question: Question) -> AbstractContextManager[Reference]:
    """What a question is judged by; all questions about one part of one data set can share it."""
    return reference(spark, question.dataset, question.seconds)


@contextmanager
def judged(
    spark: SparkSession,
    question: Question,
    announce: Callable[[str], None] = lambda phase: None,
    right: Reference | None = None,
) -> Iterator[Judgement]:
    """Judge, and keep what explains the verdict until the block ends; `announce` hears what is being done.

    `right` is the question's reference, if there is one already.
    """
    with nullcontext(right) if right else reference_for(spark, question) as right:
        announce("comparing the answers")
        counted = _counted_if_right(question, right)
        lines = {"total": 0, **dict.fromkeys(NOTES, 0)}
        if counted:
            lines["total"] = sum(answers["received"] for answers in counted.values())
        else:
            announce("finding what is not right: segment statistics and trips")
            right.statistics.count()
            announce("accidents, tolls and travel times; comparing answer by answer")
            right, counted = _best_fit(question, right)
            lines |= _line_counts(received_of(spark, question.output))
        fails = count_faults(counted) or lines[MALFORMED]
        verdict: Verdict = {
            "format": FORMAT,
            "verdict": "FAIL" if fails else "PASS",
            "dataset": dataset_label(question.dataset),
            "minutes": [spec.minute_of(question.seconds.start), spec.minute_of(question.seconds.stop - 1)],
            "xways": "all" if question.xways is None else list(question.xways),
            "lenient": question.reading.lenient,
            "accidents_end": right.reading.accidents_end,
            "answers": counted,
            "limits": dict(question.limits),
            "lines": cast(LineCounts, {**lines, "examples": _examples(spark, question.output, lines)}),
        }
        yield Judgement(verdict, question, right)


Counted = dict[str, AnswerVerdict]


def _counted_if_right(question: Question, right: Reference) -> Counted | None:
    """What the verdict counts if all answers are right, in time or late; None if the tables must tell."""
    if question.xways is not None:
        return None
    return verdict_if_right(right.spark, right.as_arrays, question.output, question.limits)


def _tallied(question: Question, right: Reference) -> DataFrame:
    """A row per answer that is expected or came."""
    received = received_of(right.spark, question.output)
    answers = answers_of(received)
    if question.reading.lenient:
        answers = read_leniently(right, answers, question.reading)
    others = answers.filter(F.col("kind") != BALANCE).select(JUDGED)
    # Of the balances only those lines are split that can be balances at all; the file is read again for them.
    balances = answers_of(received.filter(F.col("text").startswith(f"{BALANCE},")))
    balances = judged_balances(right, balances, question.reading)
    return tally(right.expected, others.union(balances), question.xways, question.limits)


def _count(question: Question, right: Reference) -> Counted:
    return answer_verdicts(by_response(_tallied(question, right)))


def _line_counts(received: DataFrame) -> dict[str, int]:
    """How many lines there are, and how many of each note."""
    counts = {row.note: row["count"] for row in received.groupBy("note").count().collect()}
    return {"total": sum(counts.values()), **{note: counts.get(note, 0) for note in NOTES}}


def _best_fit(question: Question, right: Reference) -> tuple[Reference, Counted]:
    """What the verdict counts; read leniently, by the reading of an accident's end that fits all answers better."""
    counted = _count(question, right)
    if not question.reading.lenient or not count_faults(counted):
        return right, counted
    other = right.read_as(replace(question.reading, accidents_end_early=True))
    other_counted = _count(question, other)
    if count_faults(other_counted) >= count_faults(counted):
        return right, counted
    for row in right.expected.exceptAll(other.expected).groupBy("kind").count().collect():
        other_counted[spec.ANSWERS[row["kind"]]]["lenient"] += row["count"]
    return other, other_counted


def _examples(spark: SparkSession, output: Path, lines: dict[str, int]) -> list[list[object]]:
    """The first odd lines, with their numbers."""
    if not any(lines[note] for note in NOTES):
        return []
    odd = received_of(spark, output).filter("note IS NOT NULL").select("text").take(EXAMPLES)
    return _numbered(output, [row.text for row in odd])


def _numbered(output: Path, texts: list[str]) -> list[list[object]]:
    """Find lines in a file by their text: rows that Spark reads have no numbers."""
    numbered_lines: list[list[object]] = []
    with opened(output) as (file, _):
        for number, line in enumerate(file, 1):
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            if text in texts:
                texts.remove(text)
                numbered_lines.append([number, text[:EXAMPLE_CUT]])
                if not texts:
                    break
    return numbered_lines
