"""Rule 12: journeys through the history, all of one expressway and direction together, a segment at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polling_baseline import spec
from polling_baseline.parquet import read_columns

Integers = npt.NDArray[np.int64]
CELLS = (spec.WEEK_DAYS, spec.DAY_MINUTES, spec.SEGMENTS)


class Sums:
    """Sums of fractions, one per journey, in units of 2^-112.

    Each fraction is cut off there, so 99 of them fall short by less than `SHORT` together.  A sum nearer than that
    below an integer is taken for that integer, as thirds of a minute that add up to a whole one must be.
    """

    BITS, LIMBS, SHORT = 28, 4, 1 << 14

    def __init__(self, journeys: int) -> None:
        self.limbs = np.zeros((1 + self.LIMBS, journeys), np.int64)

    def add(self, at: Integers, dividend: Integers, divisor: Integers) -> None:
        quotient, rest = np.divmod(dividend, divisor)
        self.limbs[0, at] += quotient
        for limb in range(1, 1 + self.LIMBS):
            quotient, rest = np.divmod(rest << self.BITS, divisor)
            self.limbs[limb, at] += quotient

    def floor(self, at: Any = slice(None), times: int = 1, plus_half: bool = False) -> Integers:
        limbs = self.limbs[:, at] * times
        limbs[1] += plus_half << (self.BITS - 1)
        carry = np.full(limbs.shape[1], self.SHORT, np.int64)
        for limb in range(self.LIMBS, 0, -1):
            carry = (limbs[limb] + carry) >> self.BITS
        whole: Integers = limbs[0] + carry
        return whole


def averages(files: Sequence[Path], xway: int, direction: int) -> tuple[Integers, Integers, Integers]:
    """Days, sum of Lav and sum of Cnt by day of the week, minute and segment."""
    names = ("day", "minute", "seg", "lav", "cars")
    size = int(np.prod(CELLS))
    sums = np.zeros((3, size))
    for file in files:
        if int(file.name[5:8]) != xway:
            continue
        column = read_columns(file, ["dir", *names])
        day, minute, seg, lav, cars = (column[name][column["dir"] == direction] for name in names)
        cell = np.ravel_multi_index((-day % spec.WEEK_DAYS, minute - 1, seg), CELLS)
        # Doubles, but whole numbers below 2^53: exact.
        for total, weights in zip(sums, (None, lav, cars), strict=True):
            total += np.bincount(cell, weights, size)
    days, lav, cars = sums.astype(np.int64)
    return days, lav, cars


def drive(
    history: tuple[Integers, Integers, Integers], direction: int, column: dict[str, Integers]
) -> tuple[Integers, Integers]:
    """Seconds and toll of journeys that all go one way."""
    days, lav_sum, cars_sum = history
    step = 1 if direction == spec.EAST else -1
    seg, last = column["from_seg"].copy(), column["to_seg"]
    minutes, tolls = Sums(len(seg)), Sums(len(seg))
    known = np.ones(len(seg), bool)
    while len(on := np.flatnonzero(known & (seg != last))):
        days_on, minute = np.divmod(column["minute_of_day"][on] - 1 + minutes.floor(on), spec.DAY_MINUTES)
        weekday = (column["day_of_week"][on] - 1 + days_on) % spec.WEEK_DAYS
        cell = np.ravel_multi_index((weekday, minute, seg[on]), CELLS)
        known[on] = lav_sum[cell] > 0
        on, cell = on[known[on]], cell[known[on]]
        minutes.add(on, 60 * days[cell], lav_sum[cell])
        crowd = cars_sum[cell] - spec.FREE_CARS * days[cell]
        charged = (lav_sum[cell] < spec.FREE_FLOW_MPH * days[cell]) & (crowd > 0)
        tolls.add(on[charged], 2 * crowd[charged] ** 2, days[cell[charged]] ** 2)
        seg[on] += step
    unknown = spec.NO_TRAVEL_TIME
    travel_s, toll = minutes.floor(times=60, plus_half=True), tolls.floor(plus_half=True)
    return np.where(known, travel_s, unknown), np.where(known, toll, unknown)
