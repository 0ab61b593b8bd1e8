"""Rules 2 to 4: cars, Lav and toll of every segment and minute; whole numbers and fractions, never rounded before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from driver.validate.reference.trips import Trips, joined, place_of
from polling_baseline import spec
from polling_baseline.batch import Columns

MINUTES = spec.RUN_SECONDS // spec.MINUTE_S
# A cell is a place and a minute, counted from 0; so many minutes later, the last minute still has its consequences.
WIDTH = MINUTES + spec.LAV_MINUTES + 1
# A quotient of doubles that is so near to a whole number may lie on either side of it.
UNSURE = 1e-6
TALLY = ("cell", "reports", "cars", "speeds")
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Averages:
    """As [place, minute], from the first place on: cars, and twice the sum of their average speeds.

    The sum is whole, but for what is not, which is kept as fractions.
    """

    first_place: int
    cars: Integers
    sums: Integers
    odd: dict[tuple[int, int], Fraction]

    def before(self, place: int, minute: int) -> dict[int, Fraction]:
        """The average speed in each of the five minutes before that has data; places count from the first one."""
        ages = range(max(minute - spec.LAV_MINUTES, 0), minute)
        known = [(place, other) for other in ages if self.cars[place, other]]
        return {at[1]: (int(self.sums[at]) + self.odd.get(at, Fraction())) / (2 * int(self.cars[at])) for at in known}


@dataclass(frozen=True, slots=True)
class Statistics:
    """As [place, minute], from the first place on: cars of the minute before, Lav, and the toll but for accidents."""

    first_place: int
    cars: npt.NDArray[Any]
    lav: npt.NDArray[Any]
    toll: npt.NDArray[Any]


def tally_of(trips: Trips) -> Columns:
    """Rule 2, for the vehicles of a slice: cars and the sum of their speeds by cell and number of reports.

    A car of one phase reports twice a minute at most; it counts as one with two reports, also if it has one.
    """
    report = trips.reports
    minute = report["second"] // spec.MINUTE_S
    cell = place_of(report) * WIDTH + minute
    return joined([_usual(trips, cell), _mixed(trips, cell)], TALLY)


def _usual(trips: Trips, cell: Integers) -> Columns:
    speed = trips.reports["speed_mph"].astype(np.int64)
    again = trips.same_as_before("xway", "dir", "seg")
    again[1:] &= cell[1:] == cell[:-1]
    # The second of two reports takes back what the first has added too much.
    speeds = 2 * speed
    speeds[1:] -= np.where(again[1:], speed[1:] + speed[:-1], 0)
    usual = ~trips.mixed
    cell = cell[usual]
    first = cell.min() if len(cell) else 0
    cell -= first
    size = cell.max() + 1 if len(cell) else 0
    # Doubles, but whole numbers below 2^53: exact.
    cars = np.bincount(cell, ~again[usual], size)
    sums = np.bincount(cell, speeds[usual], size)
    cells = np.flatnonzero(cars)
    return _tally(cells + first, np.full(len(cells), 2), cars[cells], sums[cells])


def _mixed(trips: Trips, cell: Integers) -> Columns:
    mixed = trips.mixed
    vehicle, cells = trips.reports["vehicle_id"][mixed], cell[mixed]
    speed = trips.reports["speed_mph"][mixed].astype(np.int64)
    order = np.lexsort((vehicle, cells))
    vehicle, cells, speed = vehicle[order], cells[order], speed[order]
    starts = np.flatnonzero(np.r_[True, (vehicle[1:] != vehicle[:-1]) | (cells[1:] != cells[:-1])][: len(cells)])
    reports = np.diff(np.r_[starts, len(cells)])
    speeds = np.add.reduceat(speed, starts) if len(starts) else speed
    return _tally(cells[starts], reports, np.ones(len(starts)), speeds)


def _tally(*columns: npt.NDArray[Any]) -> Columns:
    return {name: column.astype(np.int64) for name, column in zip(TALLY, columns, strict=True)}


def averages_of(tallies: Sequence[Columns]) -> Averages:
    """Rule 2, for all vehicles."""
    tally = joined(tallies, TALLY)
    if not len(tally["cell"]):
        empty = np.zeros((0, WIDTH), np.int64)
        return Averages(0, empty, empty, {})
    first = int(tally["cell"].min()) // WIDTH
    shape = int(tally["cell"].max()) // WIDTH - first + 1, WIDTH
    cell = tally["cell"] - first * WIDTH
    cars = np.bincount(cell, tally["cars"], shape[0] * WIDTH).astype(np.int64).reshape(shape)
    halves = tally["reports"] <= 2
    twice = np.where(tally["reports"] == 1, 2 * tally["speeds"], tally["speeds"])
    sums = np.bincount(cell[halves], twice[halves], shape[0] * WIDTH).astype(np.int64).reshape(shape)
    odd: dict[tuple[int, int], Fraction] = {}
    for number in np.flatnonzero(~halves).tolist():
        at = divmod(int(cell[number]), WIDTH)
        odd[at] = odd.get(at, Fraction()) + Fraction(2 * int(tally["speeds"][number]), int(tally["reports"][number]))
    return Averages(first, cars, sums, odd)


def statistics_of(averages: Averages) -> Statistics:
    """Rules 3 and 4 but for accidents."""
    lav = _lav(averages)
    before = np.zeros_like(averages.cars)
    before[:, 1:] = averages.cars[:, :-1]
    crowded = (lav < spec.FREE_FLOW_MPH) & (before > spec.FREE_CARS)
    toll = np.where(crowded, 2 * (before - spec.FREE_CARS) ** 2, 0)
    return Statistics(averages.first_place, before.astype(np.int32), lav.astype(np.int16), toll)


def _lav(averages: Averages) -> Integers:
    cars = averages.cars
    near = np.zeros(cars.shape)
    np.divide(averages.sums, 2 * cars, near, where=cars > 0)
    for at, more in averages.odd.items():
        near[at] += float(more) / (2 * int(cars[at]))
    total, minutes = np.zeros(cars.shape), np.zeros(cars.shape, np.int64)
    for age in range(1, spec.LAV_MINUTES + 1):
        total[:, age:] += near[:, :-age]
        minutes[:, age:] += cars[:, :-age] > 0
    mean = total / np.maximum(minutes, 1)
    lav = np.floor(mean).astype(np.int64)
    for place, minute in np.argwhere((np.abs(mean - np.rint(mean)) < UNSURE) & (minutes > 0)).tolist():
        exact = averages.before(place, minute)
        lav[place, minute] = sum(exact.values(), Fraction()) // len(exact)
    lav[minutes == 0] = spec.NO_LAV
    return lav
