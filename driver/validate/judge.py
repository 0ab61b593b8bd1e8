"""The whole way from a data set and an output file to a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
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
from driver.validate.fingerprint import glance_at
from driver.validate.reading import STRICT, Reading
from driver.validate.readings import read_leniently
from driver.validate.received import MALFORMED, NOTES, answers_of, received_of
from driver.validate.reference import BALANCE, Reference, reference
from driver.validate.tally import JUDGED, answer_verdicts, by_response, count_faults, judged_balances, tally
from polling_baseline import spec

EXAMPLES = 5
EXAMPLE_CUT = 120
SMALL_TABLE = "64MB"
OTHERS = [kind for kind in range(len(spec.ANSWERS)) if kind != BALANCE]


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


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict, and the tables that explain it."""

    verdict: Verdict
    reference: Reference
    received: DataFrame
    tallied: DataFrame


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
        announce("segment statistics and trips")
        right.statistics.count()
        announce("accidents, tolls and travel times; comparing the answers")
        tallied, counted, lines = _compare(question, right)
        if question.reading.lenient and count_faults(counted):
            announce("comparing with accidents that end a minute earlier")
            right, tallied, counted = _better_fit(question, right, tallied, counted)
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
        yield Judgement(verdict, right, received_of(spark, question.output), tallied)


Counted = dict[str, AnswerVerdict]


def _compare(question: Question, right: Reference) -> tuple[DataFrame, Counted, dict[str, int]]:
    """The tally of each answer, what it comes to, and how many lines there are that are odd."""
    received = received_of(right.spark, question.output)
    seen = glance_at(right, received)
    right_others = seen.right_by_response(right.expected, OTHERS, question.limits) if question.xways is None else None
    answers = answers_of(received)
    if question.reading.lenient and right_others is None:
        answers = read_leniently(right, answers, question.reading)
    others = answers.filter(F.col("kind") != BALANCE).select(JUDGED)
    # Of the balances only those lines are split that can be balances at all; the file is read again for them.
    balances = answers_of(received.filter(F.col("text").startswith(f"{BALANCE},")))
    balances = judged_balances(right, balances, question.reading)
    tallied = tally(right.expected, others.union(balances), question.xways, question.limits)
    if right_others is None:
        counted = by_response(tallied)
    else:
        expected = right.expected.filter(F.col("kind") == BALANCE)
        counted = right_others.union(by_response(tally(expected, balances, question.xways, question.limits)))
    return tallied, answer_verdicts(counted), seen.line_counts()


def _better_fit(
    question: Question, right: Reference, tallied: DataFrame, counted: Counted
) -> tuple[Reference, DataFrame, Counted]:
    """Of the two readings of an accident's end the one that fits all answers together better."""
    other = right.read_as(replace(question.reading, accidents_end_early=True))
    other_tallied, other_counted, _ = _compare(question, other)
    if count_faults(other_counted) >= count_faults(counted):
        return right, tallied, counted
    for row in right.expected.exceptAll(other.expected).groupBy("kind").count().collect():
        other_counted[spec.ANSWERS[row["kind"]]]["lenient"] += row["count"]
    return other, other_tallied, other_counted


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
