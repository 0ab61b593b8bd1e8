"""Table Vehicle Information: who reported in each of the last seconds, from where, and for how long from there.

A trip goes on if and only if the same vehicle reported 30 s before (rule 1), so each second has a hash table of its
own: a second is joined with that of 30 s before, nothing is updated, and what is old is overwritten as a whole.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.engines.aurora.linear_road.road import Integers, by_second
from polling_baseline.engines.aurora.model.hashing import EMPTY, capacity_for, insert, look_up, shift_for

# A minute is looked at when it is over, with stops that began up to 29 s before it; a batch may be ahead of that.
SPAN_S = spec.MINUTE_S + 2 * spec.REPORT_PERIOD_S
NEVER = np.iinfo(np.int32).max
UNKNOWN = -1

# What is kept of a report, in one number: spot, seg, and how many reports came from the spot.
SEG_BITS, STOOD_BITS = 7, 3


class Second:
    """The reports of one second, by vehicle."""

    __slots__ = ("keys", "second", "shift", "used", "values")

    def __init__(self) -> None:
        self.second = -1
        self.used = 0
        self._allocate(0)

    def start(self, second: int) -> None:
        self.second, self.used = second, 0
        self.keys.fill(EMPTY)

    def add(self, vehicles: npt.NDArray[np.int32], values: Integers) -> None:
        if 2 * (self.used + len(vehicles)) > len(self.keys):
            full = self.keys != EMPTY
            keys, kept = self.keys[full], self.values[full]
            self._allocate(self.used + len(vehicles))
            insert(self.keys, self.values, self.shift, keys, kept)
        insert(self.keys, self.values, self.shift, vehicles, values)
        self.used += len(vehicles)

    def of(self, vehicles: npt.NDArray[np.int32]) -> Integers:
        reports = np.empty(len(vehicles), np.int64)
        look_up(self.keys, self.values, self.shift, vehicles, UNKNOWN, reports)
        return reports

    def _allocate(self, rows: int) -> None:
        capacity = capacity_for(rows)
        self.keys = np.full(capacity, EMPTY, np.int32)
        self.values = np.empty(capacity, np.int64)
        self.shift = shift_for(capacity)


class Vehicles:
    def __init__(self) -> None:
        self._ring = [Second() for _ in range(SPAN_S)]

    def before(self, columns: Columns) -> Columns:
        """Of each report's trip, the report before: its spot, its segment, and how many stood there; else UNKNOWN."""
        reports = np.empty(len(columns["second"]), np.int64)
        for second, rows in by_second(columns["second"]):
            earlier = self._at(second - spec.REPORT_PERIOD_S)
            reports[rows] = UNKNOWN if earlier is None else earlier.of(columns["vehicle_id"][rows])
        known = reports != UNKNOWN
        last_seg = np.where(known, (reports >> STOOD_BITS) & ((1 << SEG_BITS) - 1), UNKNOWN).astype(np.int16)
        return {
            "last_seg": last_seg,
            "last_spot": reports >> (STOOD_BITS + SEG_BITS),
            "last_stood": reports & ((1 << STOOD_BITS) - 1),
        }

    def enter(self, columns: Columns) -> None:
        value = (columns["spot"] << SEG_BITS | columns["seg"]) << STOOD_BITS | columns["stood"]
        for second, rows in by_second(columns["second"]):
            slot = self._ring[second % SPAN_S]
            if slot.second != second:
                slot.start(second)
            slot.add(columns["vehicle_id"][rows], value[rows])

    def first_seen(self, vehicles: npt.NDArray[np.int32], after: Integers, before: Integers) -> Integers:
        """The first second after one and before another at which each vehicle reported; NEVER if it did not."""
        seen = np.full(len(vehicles), NEVER, np.int64)
        for second in range(int(after.min()) + 1, int(before.max())) if len(vehicles) else ():
            rows = np.flatnonzero((seen == NEVER) & (after < second) & (second < before))
            slot = self._at(second)
            if slot is not None and len(rows):
                seen[rows[slot.of(vehicles[rows]) != UNKNOWN]] = second
        return seen

    def segments(self, vehicles: npt.NDArray[np.int32], seconds: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
        """From which segment each vehicle reported 30 s before a second; else UNKNOWN."""
        order = np.argsort(seconds, kind="stable")
        segments = np.empty(len(vehicles), np.int16)
        columns: Columns = {"second": seconds[order], "vehicle_id": vehicles[order]}
        segments[order] = self.before(columns)["last_seg"]
        return segments

    def _at(self, second: int) -> Second | None:
        slot = self._ring[second % SPAN_S]
        return slot if slot.second == second and second >= 0 else None
