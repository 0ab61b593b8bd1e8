"""The right answers as numbers to compare with: how many there are to each minute, and their fingerprint.

`docs/digests.md` defines the fingerprint; `docs/examples/digest.py` computes it from an output file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from driver.dataset.folder import Dataset
from driver.validate.fingerprint import Heap, heap_of_copies
from driver.validate.reference.requests import twin_seconds
from driver.validate.reference.right_answers import BALANCE, RightAnswers, right_answers
from polling_baseline import spec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HEADING = "kind,minute,answers,fingerprint"
# No chance: the same data set gives the same digest everywhere.
SEED = 0
UNKNOWN = "-"


def digest_lines(spark: SparkSession, dataset: Dataset, seconds: range) -> Iterator[str]:
    """The lines of the digest: for each kind of answer all minutes together, then each that has answers."""
    with right_answers(spark, dataset, seconds, SEED) as right:
        yield HEADING
        for kind, name in enumerate(spec.ANSWERS):
            heap = right.heaps[kind]
            known = _balances(right) if kind == BALANCE else heap
            whole = UNKNOWN if known is None else _hexadecimal(int(np.add.reduce(known.totals, dtype=np.uint64)))
            yield f"{name},all,{heap.answers},{whole}"
            for place in np.flatnonzero(heap.counts).tolist():
                part = UNKNOWN if known is None else _hexadecimal(int(known.totals[place]))
                yield f"{name},{place + 1},{heap.counts[place]},{part}"


def _balances(right: RightAnswers) -> Heap | None:
    """Those of the requests' own seconds; None if two requests cannot be told apart."""
    asked = right.answers[BALANCE]
    if len(twin_seconds(asked)):
        return None
    balances = right.accounts.charged_by(asked["value_1"], asked["second"])
    return heap_of_copies(right.dataset, right.seed, asked["xway"], asked["id"], asked["second"], balances)


def _hexadecimal(number: int) -> str:
    return f"{number:016x}"
