"""Rule 12: how long a journey takes and what it costs, by the history.

In doubles, which is exact enough unless a moment or a result lies close to where it would be cut: then in fractions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import numpy as np

from polling_baseline import spec
from polling_baseline.engines.structured_streaming.places import DIRECTIONS

Number = TypeVar("Number", float, Fraction)
UNKNOWN = (spec.NO_TRAVEL_TIME, spec.NO_TRAVEL_TIME)
MOMENTS = DIRECTIONS * spec.WEEK_DAYS * spec.DAY_MINUTES
NO_ROW = -1
# Sums of a hundred doubles are better than this by far.
CLOSE = 1e-4


class Hours(NamedTuple):
    """Of one expressway: history days, sums of Lav and sums of Cnt, by moment and segment.

    A moment that has any history has a row in each of them, which `rows` names.
    """

    rows: np.ndarray
    days: np.ndarray
    lav: np.ndarray
    cars: np.ndarray


def moment_of(way: Any, day_of_week: Any, minute: Any) -> Any:
    """Direction, day of the week and minute of the day, both counted from 1, as one number."""
    return (way * spec.WEEK_DAYS + day_of_week - 1) * spec.DAY_MINUTES + minute - 1


class TooClose(Exception):
    """A double does not tell on which side of a border a number is."""


def drive_journey(hours: Hours | None, from_seg: int, to_seg: int, day_of_week: int, minute: int) -> tuple[int, int]:
    """Seconds and toll; -1 and -1 if the history does not know a segment on the way."""
    if from_seg == to_seg:
        return 0, 0
    if hours is None:
        return UNKNOWN
    try:
        return _drive(hours, from_seg, to_seg, day_of_week, float(minute))
    except TooClose:
        return _drive(hours, from_seg, to_seg, day_of_week, Fraction(minute))


def _drive(hours: Hours, from_seg: int, to_seg: int, day_of_week: int, moment: Number) -> tuple[int, int]:
    way, step = (spec.EAST, 1) if from_seg < to_seg else (spec.WEST, -1)
    number = type(moment)
    minutes, tolls = number(0), number(0)
    for seg in range(from_seg, to_seg, step):
        at = _floor(moment) if minutes else int(moment)
        while at > spec.DAY_MINUTES:
            moment -= spec.DAY_MINUTES
            at -= spec.DAY_MINUTES
            day_of_week = day_of_week % spec.WEEK_DAYS + 1
        row = hours.rows[moment_of(way, day_of_week, at)]
        if row == NO_ROW:
            return UNKNOWN
        cell = row, seg
        days, lav, cars = int(hours.days[cell]), int(hours.lav[cell]), int(hours.cars[cell])
        if not lav:
            return UNKNOWN
        if lav < spec.FREE_FLOW_MPH * days and cars > spec.FREE_CARS * days:
            tolls += 2 * (number(cars) / days - spec.FREE_CARS) ** 2
        minutes += number(spec.HOUR_MINUTES * days) / lav
        moment += number(spec.HOUR_MINUTES * days) / lav
    return _rounded(spec.MINUTE_S * minutes), _rounded(tolls)


def _floor(value: float | Fraction) -> int:
    if isinstance(value, float) and abs(value - round(value)) < CLOSE:
        raise TooClose
    return math.floor(value)


def _rounded(value: float | Fraction) -> int:
    """To the nearest integer, halves up."""
    return _floor(value + (Fraction(1, 2) if isinstance(value, Fraction) else 0.5))
