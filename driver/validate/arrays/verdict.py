"""The verdict on an output that has all right answers, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from driver.run.limits import Limits
from driver.run.verdict import AnswerVerdict
from driver.spark.units import run_job
from driver.validate.arrays.received import SECOND_US, NotPlain, plain_answers
from driver.validate.arrays.right_answers import RightAnswers
from driver.validate.fingerprint import Heap, heap_of, original_ids
from driver.validate.input_files import parts_of
from driver.validate.tally import COUNTS, PER_MILLE
from polling_baseline import spec
from polling_baseline.batch import AnswerKind, Columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BALANCE = "balance"


@dataclass(frozen=True, slots=True)
class Came:
    """Answers of one kind: their heap, how many came in which time, and whether all balances among them are right."""

    heap: Heap
    response_us: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    right: bool

    def __add__(self, other: Came) -> Came:
        times = np.r_[self.response_us, other.response_us]
        response_us, places = np.unique(times, return_inverse=True)
        counts = np.bincount(places, np.r_[self.counts, other.counts], len(response_us)).astype(np.int64)
        return Came(self.heap + other.heap, response_us, counts, self.right and other.right)

    def is_right(self, heap: Heap) -> bool:
        """Whether these are the answers of that heap, and none of them is early."""
        return self.right and self.heap == heap and not bool((self.response_us < 0).any())


NOTHING = Came(Heap(), np.zeros(0, np.int64), np.zeros(0, np.int64), True)


def verdict_if_right(
    spark: SparkSession, right: RightAnswers, output: Path, limits: Limits
) -> dict[str, AnswerVerdict] | None:
    """What `verdict.json` says of each kind of answer, if all are right and none is early; None if not."""
    output = output.absolute()
    parts = parts_of(output, spark.sparkContext.defaultParallelism)
    shared = spark.sparkContext.broadcast(right)

    def look(part: tuple[int, int]) -> dict[str, Came] | None:
        try:
            return answers_in(shared.value, output, *part)
        except NotPlain:
            return None

    tasks = spark.sparkContext.parallelize(parts, len(parts)).map(look)
    seen = run_job(spark, tasks.collect)
    shared.unpersist()
    if any(part is None for part in seen):
        return None
    came = {kind: _together([part.get(kind, NOTHING) for part in cast(Any, seen)]) for kind in spec.ANSWERS}
    if not all(came[kind].is_right(right.heaps[kind]) for kind in spec.ANSWERS):
        return None
    return {kind: _answer_verdict(came[kind], limits[kind]) for kind in spec.ANSWERS}


def answers_in(right: RightAnswers, output: Path, start: int, stop: int) -> dict[str, Came]:
    """What came of each kind in the lines that begin in a part of a file; or NotPlain."""
    came: dict[str, Came] = {}
    for kind, columns in plain_answers(output, start, stop):
        came[kind.name] = came.get(kind.name, NOTHING) + _of_kind(right, kind, columns)
    return came


def _of_kind(right: RightAnswers, kind: AnswerKind, columns: Columns) -> Came:
    id, second = columns[kind.id], columns["second"]
    values = [columns[name] for name in kind.values]
    response_us, counts = np.unique(columns["response_us"], return_counts=True)
    if kind.name != BALANCE:
        return Came(heap_of(right.seed, id, second, *values), response_us, counts, True)
    query = original_ids(right.dataset, id)
    are_right = right.accounts is not None and bool(right.accounts.right(query, second, *values).all())
    return Came(heap_of(right.seed, id, second), response_us, counts, are_right)


def _together(parts: Sequence[Came]) -> Came:
    return reduce(lambda one, other: one + other, parts, NOTHING)


def _answer_verdict(came: Came, limit_s: float) -> AnswerVerdict:
    counts = dict.fromkeys(COUNTS, 0)
    counts |= {
        "expected": came.heap.answers,
        "received": came.heap.answers,
        "late": int(came.counts[came.response_us > round(limit_s * SECOND_US)].sum()),
    }
    reached, times = np.cumsum(came.counts), came.response_us

    def time(share: int) -> float | None:
        """The smallest response time that so many do not exceed."""
        at = np.searchsorted(reached * 1000, came.heap.answers * share)
        return int(times[at]) / SECOND_US if len(times) else None

    return cast(AnswerVerdict, {**counts, **{name: time(share) for name, share in {**PER_MILLE, "max": 1000}.items()}})
