"""Exactly the answers that are expected?  Told without bringing each of them together with its counterpart.

Every answer gets a hash of 64 bits.  Two heaps of answers are taken as equal if they hold equally many and both halves
of the hashes add up to the same.  The hash has a seed that is drawn anew each time.  If it is as good as chance, heaps
that differ are taken as equal once in 2^64 times.  What is not equal is left to `verdict.tally`, which tells why.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass

from pyspark.sql import DataFrame, GroupedData
from pyspark.sql import functions as F

from driver.run.limits import Limits
from driver.validate.received import NOTES, is_answer
from driver.validate.reference import Reference
from driver.validate.tally import COUNTS, IDENTITY, is_late

FINGERPRINT = ("answered", "low", "high")


@dataclass(frozen=True, slots=True)
class Glance:
    """An output's lines, counted by kind, response time and what is odd about them, with their fingerprints."""

    lines: DataFrame
    seed: int

    def line_counts(self) -> dict[str, int]:
        """How many lines there are, and how many of each note."""
        counts = {row.note: row["sum(answered)"] for row in self.lines.groupBy("note").sum("answered").collect()}
        return {"total": sum(counts.values()), **{note: counts.get(note, 0) for note in NOTES}}

    def right_by_response(self, expected: DataFrame, kinds: Collection[int], limits: Limits) -> DataFrame | None:
        """The answers of these kinds as `verdict.by_response` counts them, if they are those expected; None if not."""
        of_kinds = F.col("kind").isin(*kinds)
        came = self.lines.filter(of_kinds & is_answer()).drop("note")
        sums = [F.sum(name).alias(name) for name in FINGERPRINT]
        received = came.groupBy("kind").agg(*sums, F.min("response_us").alias("shortest_us")).collect()
        asked = _fingerprints(expected.filter(of_kinds).groupBy("kind"), self.seed).collect()
        if any(row.shortest_us < 0 for row in received) or sorted(row[:-1] for row in received) != sorted(asked):
            return None
        counts = dict.fromkeys(COUNTS, F.lit(0)) | {
            "expected": F.col("answered"),
            "received": F.col("answered"),
            "late": F.when(is_late(limits), F.col("answered")).otherwise(0),
        }
        answers = came.groupBy("kind", "response_us").agg(F.sum("answered").alias("answered"))
        return answers.select("kind", "response_us", "answered", *[counts[name].alias(name) for name in COUNTS])


def glance_at(reference: Reference, received: DataFrame) -> Glance:
    seed = secrets.randbits(63)
    return Glance(reference.keep(_fingerprints(received.groupBy("kind", "response_us", "note"), seed)), seed)


def _fingerprints(answers: GroupedData, seed: int) -> DataFrame:
    hashed = F.xxhash64(F.lit(seed), *IDENTITY, "value_1", "value_2")
    low, high = hashed.bitwiseAND((1 << 32) - 1), F.shiftrightunsigned(hashed, 32)
    return answers.agg(F.count("*").alias("answered"), F.sum(low).alias("low"), F.sum(high).alias("high"))
