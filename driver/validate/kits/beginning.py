"""Which readings can accept a large output at all: its first minutes tell.

Whoever accepts an output accepts each of its answers, and what is right in the first minutes does not depend on what
comes later.  Only for the validator of 2004 does it: accidents at one place are one, from the first to the last, so
reports at speed 0 are read to the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driver.dataset.folder import Dataset
from driver.validate.kits.answers import AcceptedAnswers
from driver.validate.kits.layouts import TRAVEL, Answer, Output, names_of
from driver.validate.kits.road import read_road, report_seconds
from driver.validate.kits.verdict import READINGS, KitReading, accepts
from polling_baseline import spec

MOST_REPORTS, MOST_LINES = 100_000, 400_000
SHORTEST_MIN, LONGEST_MIN = 2, 10


@dataclass(frozen=True, slots=True)
class Beginning:
    """The readings that find no fault in the answers of the first minutes; missing ones are not looked for."""

    minutes: int
    open: tuple[str, ...]


def readings_left(dataset: Dataset, seconds: range, output: Output) -> Beginning:
    """`output` may be cut: a fault that it shows is one of the whole."""
    first = _first_minutes(dataset, seconds)
    road = read_road(dataset, first, seconds.stop)
    given = [answer for answer in output.answers if answer.second in first and answer.kind != TRAVEL]
    left = [name for name, kit in READINGS.items() if not output.odd and _holds(kit, kit.accepted(road), given)]
    return Beginning(len(first) // spec.MINUTE_S, tuple(left))


def _first_minutes(dataset: Dataset, seconds: range) -> range:
    """So many that they can be looked at report by report."""
    longest = seconds[: LONGEST_MIN * spec.MINUTE_S]
    minutes = (report_seconds(dataset, longest) - seconds.start) // spec.MINUTE_S
    reports = np.cumsum(np.bincount(minutes, minlength=LONGEST_MIN))
    number = int(np.searchsorted(reports, MOST_REPORTS, side="right"))
    return longest[: max(number, SHORTEST_MIN) * spec.MINUTE_S]


def _holds(kit: KitReading, accepted: AcceptedAnswers, given: list[Answer]) -> bool:
    return all(accepts(accepted, answer) and _is_in_time(kit, answer) for answer in given)


def _is_in_time(kit: KitReading, answer: Answer) -> bool:
    limit = kit.limits.get(names_of(answer.kind))
    return limit is None or answer.emit is None or 0 <= answer.emit - answer.second <= limit
