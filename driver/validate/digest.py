"""The right answers as numbers to compare with: how many there are to each minute, and their fingerprint.

`docs/digests.md` defines the fingerprint; `docs/examples/digest.py` computes it from an output file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from driver.dataset.folder import Dataset
from driver.validate.arrays.right_answers import right_answers
from driver.validate.fingerprint import Heap
from polling_baseline import spec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HEADING = "kind,minute,answers,fingerprint"
# No chance: the same data set gives the same digest everywhere.
SEED = 0
UNKNOWN = "-"


def digest_lines(spark: SparkSession, dataset: Dataset, seconds: range) -> Iterator[str]:
    """The lines of the digest: for each kind of answer all minutes together, then each that has answers."""
    right = right_answers(spark, dataset, seconds, SEED)
    yield HEADING
    for kind in spec.ANSWERS:
        heap = right.heaps[kind]
        known: Heap | None = right.balances if kind == "balance" else heap
        whole = UNKNOWN if known is None else _hexadecimal(int(np.add.reduce(known.totals, dtype=np.uint64)))
        yield f"{kind},all,{heap.answers},{whole}"
        for place in np.flatnonzero(heap.counts).tolist():
            part = UNKNOWN if known is None else _hexadecimal(int(known.totals[place]))
            yield f"{kind},{place + 1},{heap.counts[place]},{part}"


def _hexadecimal(number: int) -> str:
    return f"{number:016x}"
