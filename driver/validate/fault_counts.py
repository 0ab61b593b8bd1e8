"""How many faults there are, by kind and minute, and by segment and minute: what a page shows of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from driver.run.verdict import FAULTS
from driver.validate.fingerprint import PLACES, place_in_time
from driver.validate.judge import Judgement
from driver.validate.overview import KINDS
from driver.validate.tally import NOWHERE
from polling_baseline import spec
from polling_baseline.batch import Columns

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FaultCounts:
    """Faults by [kind, fault, minute], and those of notifications by [direction, segment, minute].

    The last minute stands for all seconds that no run has.  Where nobody asked, there is no segment.
    """

    by_minute: Counts
    by_segment: Counts

    def __add__(self, other: FaultCounts) -> FaultCounts:
        return FaultCounts(self.by_minute + other.by_minute, self.by_segment + other.by_segment)


def count_by_minute(judgement: Judgement) -> FaultCounts:
    parts = judgement.comparison.each(_counted) if judgement.comparison else []
    return sum(parts, _nothing())


def _nothing() -> FaultCounts:
    by_minute = np.zeros((len(KINDS), len(FAULTS), PLACES), np.int64)
    return FaultCounts(by_minute, np.zeros((2, spec.SEGMENTS, PLACES), np.int64))


def _counted(number: int, tallied: Columns, expected: Columns, came: Columns) -> FaultCounts:
    counts, place = _nothing(), place_in_time(tallied["second"])
    for at, fault in enumerate(FAULTS):
        np.add.at(counts.by_minute[:, at], _index(tallied["kind"], place), tallied[fault])
    faults = np.sum([tallied[fault] for fault in FAULTS], axis=0)
    known = tallied["place"] != NOWHERE
    road, seg = np.divmod(tallied["place"][known], spec.SEGMENTS)
    np.add.at(counts.by_segment, _index(road % 2, seg, place[known]), faults[known])
    return counts


def _index(*places: npt.NDArray[Any]) -> Any:
    """For numpy's types, which know no tuple of arrays here."""
    return places
