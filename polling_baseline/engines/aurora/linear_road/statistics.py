"""Subnetwork 2: the statistics of each segment and minute (rules 2 and 3).

Nothing is rounded on the way.  A segment's average is the mean of its vehicles' means, and a vehicle has reported k
times: so speeds are added up by k, and an average is a whole number of 1/UNIT, with a UNIT that every k divides.
"""

from __future__ import annotations

from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.compiled import compiled
from polling_baseline.engines.aurora.linear_road.road import CELLS, Integers, by_minute
from polling_baseline.engines.aurora.model.box import Map
from polling_baseline.engines.aurora.model.network import Network
from polling_baseline.engines.aurora.model.tables import TableWrite
from polling_baseline.engines.aurora.model.windows import GroupBy, Slide, Tumble

GROUP = "2 statistics"
# A vehicle reports once a second at most.
MOST_REPORTS = spec.MINUTE_S
UNIT = lcm(*range(1, MOST_REPORTS + 1))
VEHICLE_BITS = 31
# Doubles are that exact; what is nearer to an integer is computed with whole numbers.
NEAR = 1e-6


@compiled
def tally(groups, keys, amounts, key_of, sums, counts):  # type: ignore[no-untyped-def]
    for row in range(len(groups)):
        group = groups[row]
        key_of[group] = keys[row]
        sums[group] += amounts[row]
        counts[group] += 1


class Totals:
    """An aggregate: the sum of a column and the number of tuples of each group, with a column that is the group's."""

    def __init__(self, key: str, amount: str) -> None:
        self._key, self._amount = key, amount
        self._used = 0
        self._keys, self._sums, self._counts = (np.zeros(1024, dtype) for dtype in (np.int32, np.int64, np.int32))

    def add(self, columns: Columns) -> None:
        groups = columns["group"]
        self._used = max(self._used, int(groups.max()) + 1)
        if self._used > len(self._keys):
            more = 2 * self._used - len(self._keys)
            self._keys, self._sums, self._counts = (
                np.concatenate([column, np.zeros(more, column.dtype)])
                for column in (self._keys, self._sums, self._counts)
            )
        tally(groups, columns[self._key], columns[self._amount], self._keys, self._sums, self._counts)

    def close(self) -> Columns:
        used = slice(0, self._used)
        return {self._key: self._keys[used], self._amount: self._sums[used], "tuples": self._counts[used]}


class SegmentAverages:
    """An aggregate: of vehicles (cell, number of reports, sum of speeds), the cars and the average of each cell."""

    def __init__(self) -> None:
        self._totals = Totals("cell_and_reports", "speed_mph")

    def add(self, columns: Columns) -> None:
        self._totals.add(columns)

    def close(self) -> Columns:
        totals = self._totals.close()
        cell, reports = np.divmod(totals["cell_and_reports"], MOST_REPORTS + 1)
        cells, places = np.unique(cell, return_inverse=True)
        cars = np.bincount(places, totals["tuples"], len(cells)).astype(np.int64)
        speeds = [0] * len(cells)
        for place, total, count in zip(places.tolist(), totals["speed_mph"].tolist(), reports.tolist(), strict=True):
            speeds[place] += total * (UNIT // count)
        exact = np.array(speeds, object)
        return {
            "cell": cells,
            "cars": cars,
            "speeds": exact,
            "average": (exact / (cars.astype(object) * UNIT)).astype(np.float64),
        }


def lav(columns: Columns, last_second: int) -> Columns:
    """Rule 3, at the end of a minute, from (second, cell, cars, speeds, average) of the last five; cars of the last."""
    cells, places = np.unique(columns["cell"], return_inverse=True)
    minutes = np.bincount(places, minlength=len(cells))
    mean = np.bincount(places, columns["average"], len(cells)) / minutes
    velocities = np.floor(mean).astype(np.int64)
    near = np.flatnonzero(np.abs(mean - np.rint(mean)) < NEAR)
    if len(near):
        velocities[near] = _exactly(columns, places, near, len(cells))
    last = columns["second"] == last_second
    cars = np.zeros(len(cells), np.int64)
    cars[places[last]] = columns["cars"][last]
    return {"cell": cells, "lav": velocities, "cars": cars}


def _exactly(columns: Columns, places: npt.NDArray[Any], wanted: npt.NDArray[Any], cells: int) -> list[int]:
    """The floor of the mean of fractions speeds / (UNIT * cars), by cell."""
    sums: dict[int, tuple[int, int, int]] = dict.fromkeys(wanted.tolist(), (0, 1, 0))
    chosen = np.zeros(cells, bool)
    chosen[wanted] = True
    rows = np.flatnonzero(chosen[places])
    for place, speeds, cars in zip(
        places[rows].tolist(), columns["speeds"][rows].tolist(), columns["cars"][rows].tolist(), strict=True
    ):
        dividend, divisor, minutes = sums[place]
        sums[place] = (dividend * cars + speeds * divisor, divisor * cars, minutes + 1)
    return [dividend // (UNIT * divisor * minutes) for dividend, divisor, minutes in sums.values()]


class Segments:
    """Table Segment Statistics: cars and Lav of each segment, by the minute for which they set the toll."""

    def __init__(self) -> None:
        self._minutes: dict[int, tuple[npt.NDArray[np.int16], npt.NDArray[np.int32]]] = {}

    def enter(self, columns: Columns) -> None:
        for minute, rows in by_minute(columns["second"]):
            lavs, cars = np.full(CELLS, spec.NO_LAV, np.int16), np.zeros(CELLS, np.int32)
            lavs[columns["cell"][rows]] = columns["lav"][rows]
            cars[columns["cell"][rows]] = columns["cars"][rows]
            self._minutes[minute + 1] = lavs, cars
            for old in [known for known in self._minutes if known < minute]:
                del self._minutes[old]

    def of(self, columns: Columns) -> Columns:
        """Lav and cars that count for each report."""
        found_lav = np.full(len(columns["second"]), spec.NO_LAV, np.int16)
        found_cars = np.zeros(len(columns["second"]), np.int32)
        for minute, rows in by_minute(columns["second"]):
            if minute in self._minutes:
                lavs, cars = self._minutes[minute]
                cell = columns["cell"][rows]
                found_lav[rows], found_cars[rows] = lavs[cell], cars[cell]
        return {"lav": found_lav, "cars": found_cars}


def build(network: Network, reports: str, segments: Segments) -> str:
    """Give the box whose output is all statistics entered."""
    minute = spec.MINUTE_S
    after = network.add(GroupBy("vehicle in a segment", minute, _vehicle_in_cell), reports, GROUP)
    after = network.add(Tumble("its reports", minute, lambda: Totals("cell", "speed_mph")), after, GROUP)
    after = network.add(Map("its segment", _cell_and_reports), after, GROUP)
    after = network.add(GroupBy("segment", minute, lambda columns: columns["cell_and_reports"]), after, GROUP)
    after = network.add(Tumble("cars and average", minute, SegmentAverages), after, GROUP)
    network.connection_point("segment minutes", after, 10 * minute)
    after = network.add(Slide("five minutes", minute, spec.LAV_MINUTES, lav), after, GROUP)
    return network.add(TableWrite("segment statistics", "segments", segments.enter), after, GROUP)


def _vehicle_in_cell(columns: Columns) -> Integers:
    return columns["cell"] << VEHICLE_BITS | columns["vehicle_id"]


def _cell_and_reports(columns: Columns) -> Columns:
    together = columns["cell"] * (MOST_REPORTS + 1) + columns["tuples"]
    return {"second": columns["second"], "cell_and_reports": together, "speed_mph": columns["speed_mph"]}
