"""Rules 9 to 11: what vehicles are charged, what they may be told of it, and what they spent on earlier days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from driver.validate.reference.trips import joined
from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.parquet import read_columns

Integers = npt.NDArray[np.int64]
ASSESSMENT = ("vehicle_id", "second", "toll")
# Later than any ResultTime that is right, and earlier: from a request at 0 back.
MOMENTS = 2 * spec.RUN_SECONDS


@dataclass(frozen=True, slots=True)
class Accounts:
    """The requests for a balance by (QID, Time), and all that their vehicles were charged, by vehicle and time."""

    request: Integers
    vehicle: Integers
    moment: Integers
    # What was charged to all vehicles together, before each of the moments and after the last one.
    charged: Integers

    def right(self, query: Integers, second: Integers, result: Integers, balance: Integers) -> npt.NDArray[np.bool_]:
        """Whether each of these answers is right for its request; of those that cannot be told apart, the first."""
        if not len(self.request):
            return np.zeros(len(query), bool)
        key = request_key(query, second)
        at = np.minimum(np.searchsorted(self.request, key), len(self.request) - 1)
        return (self.request[at] == key) & self.fit(self.vehicle[at], second, result, balance)

    def fit(self, vehicle: Integers, second: Integers, result: Integers, balance: Integers) -> npt.NDArray[np.bool_]:
        """Rule 10: whether each of these balances is right for a request of that vehicle."""
        recent = (result <= second) & (result >= second - spec.BALANCE_AGE_S)
        return recent & (self.charged_by(vehicle, np.where(recent, result, 0)) == balance)

    def fit_as_of_last(
        self, vehicle: Integers, second: Integers, result: Integers, balance: Integers
    ) -> npt.NDArray[np.bool_]:
        """Rule 10, leniently: as of the last assessment, however long ago; tolls of 0 must be among them."""
        possible = (result >= 0) & (result <= second)
        result = np.where(possible, result, 0)
        key = _moment(vehicle, result)
        is_assessment = np.searchsorted(self.moment, key, "right") > np.searchsorted(self.moment, key, "left")
        # What was charged has not changed from then until it may be told.
        latest = np.maximum(result, np.where(possible, second - spec.BALANCE_AGE_S, 0))
        unchanged = (self.charged_by(vehicle, result) == balance) & (self.charged_by(vehicle, latest) == balance)
        return possible & (is_assessment | (result == 0)) & unchanged

    def ranges(self, vehicle: Integers, second: Integers) -> tuple[Integers, Integers, Integers, Integers]:
        """All right answers to some requests: number of the request, first and last ResultTime, and the balance."""
        oldest = second - spec.BALANCE_AGE_S
        low, high = (np.searchsorted(self.moment, _moment(vehicle, at), "right") for at in (oldest, second))
        many = high - low + 1
        request = np.repeat(np.arange(len(vehicle)), many)
        change = np.arange(len(request)) - np.repeat(np.cumsum(many) - many, many)
        after = low[request] + change
        assessed = np.r_[0, self.moment][after] - _moment(vehicle[request], np.zeros(len(request), np.int64))
        start = np.where(change == 0, oldest[request], assessed)
        until = np.append(start[1:], 0)[: len(start)] - 1
        last = change == many[request] - 1
        balance = self.charged[after] - self.charged[self._since(vehicle)][request]
        return request, start, np.where(last, second[request], until), balance

    def charges(self, vehicle: int, second: int) -> list[tuple[int, int]]:
        """When a vehicle was charged until then, and what."""
        ends = _moment(np.array([vehicle, vehicle]), np.array([-1, second]))
        low, high = np.searchsorted(self.moment, ends, "right").tolist()
        seconds = self.moment[low:high] - int(ends[0]) - 1
        return list(zip(seconds.tolist(), np.diff(self.charged[low : high + 1]).tolist(), strict=True))

    def charged_by(self, vehicle: Integers, second: Integers) -> Integers:
        """What each of these vehicles was charged until then."""
        until = np.searchsorted(self.moment, _moment(vehicle, second), "right")
        return self.charged[until] - self.charged[self._since(vehicle)]

    def _since(self, vehicle: Integers) -> Integers:
        return np.searchsorted(self.moment, _moment(vehicle, np.full(len(vehicle), -spec.BALANCE_AGE_S)), "left")


def request_key(query: Integers, second: Integers) -> Integers:
    """One number for QID and Time; two that differ may share it, which is found out when requests are sorted."""
    return query * spec.RUN_SECONDS + second


def _moment(vehicle: Integers, second: Integers) -> Integers:
    return vehicle.astype(np.int64) * MOMENTS + spec.BALANCE_AGE_S + second


def assessments_of(crossings: Columns, toll: Integers) -> Columns:
    """Rule 9, tolls of 0 included."""
    rows = crossings["left_second"] >= 0
    return {
        "vehicle_id": crossings["vehicle_id"][rows].astype(np.int64),
        "second": crossings["left_second"][rows],
        "toll": toll[rows],
    }


def accounts_of(requests: Columns, assessments: Sequence[Columns]) -> Accounts:
    key = request_key(requests["query_id"], requests["second"].astype(np.int64))
    order = np.argsort(key, kind="stable")
    charges = joined(assessments, ASSESSMENT)
    moment = _moment(charges["vehicle_id"], charges["second"])
    in_time = np.argsort(moment)
    charged = np.r_[0, np.cumsum(charges["toll"][in_time])]
    return Accounts(key[order], requests["vehicle_id"][order].astype(np.int64), moment[in_time], charged)


def spent_in(path: Path, requests: Columns) -> tuple[Integers, Integers]:
    """Rule 11, of one file of TollHistory: which requests it knows the answer to, and the tolls."""
    history = read_columns(path, ("vehicle_id", "day", "xway", "tolls"))
    wanted = _day_key(requests)
    order = np.argsort(wanted)
    known = _day_key(history)
    # Few requests, many rows: look each row up among the requests.
    first, last = (np.searchsorted(wanted[order], known, side) for side in ("left", "right"))
    rows = np.flatnonzero(last > first)
    at = np.concatenate([order[first[row] : last[row]] for row in rows]) if len(rows) else order[:0]
    return at, np.repeat(history["tolls"][rows].astype(np.int64), (last - first)[rows])


def _day_key(columns: Columns) -> Integers:
    vehicle = columns["vehicle_id"].astype(np.int64)
    return (vehicle * (spec.HISTORY_DAYS + 1) + columns["day"]) * spec.MAX_XWAYS + columns["xway"]
