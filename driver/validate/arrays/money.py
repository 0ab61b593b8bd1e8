"""Rules 9 to 11: what vehicles are charged, what they may be told of it, and what they spent on earlier days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from driver.validate.arrays.trips import joined
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
        """Rule 10: whether each of these answers is right for its request."""
        if not len(self.request):
            return np.zeros(len(query), bool)
        key = request_key(query, second)
        at = np.minimum(np.searchsorted(self.request, key), len(self.request) - 1)
        recent = (self.request[at] == key) & (result <= second) & (result >= second - spec.BALANCE_AGE_S)
        return recent & (self._charged_by(self.vehicle[at], np.where(recent, result, 0)) == balance)

    def of_requests(self, query: Integers, second: Integers) -> Integers:
        """The balance that each of these requests may be told as of its own second."""
        at = np.searchsorted(self.request, request_key(query, second))
        return self._charged_by(self.vehicle[at], second)

    def _charged_by(self, vehicle: Integers, second: Integers) -> Integers:
        until = np.searchsorted(self.moment, _moment(vehicle, second), "right")
        since = np.searchsorted(self.moment, _moment(vehicle, np.full(len(vehicle), -spec.BALANCE_AGE_S)), "left")
        return self.charged[until] - self.charged[since]


def request_key(query: Integers, second: Integers) -> Integers:
    """One number for QID and Time; two that differ may share it, which is found out when requests are sorted."""
    return query * spec.RUN_SECONDS + second


def _moment(vehicle: Integers, second: Integers) -> Integers:
    return vehicle.astype(np.int64) * MOMENTS + spec.BALANCE_AGE_S + second


def assessments_of(crossings: Columns, toll: Integers, asked: Integers) -> Columns:
    """Rule 9, of the vehicles that ask for a balance."""
    rows = (crossings["left_second"] >= 0) & (toll > 0) & np.isin(crossings["vehicle_id"], asked)
    return {
        "vehicle_id": crossings["vehicle_id"][rows].astype(np.int64),
        "second": crossings["left_second"][rows],
        "toll": toll[rows],
    }


def accounts_of(requests: Columns, assessments: Sequence[Columns]) -> Accounts | None:
    """None if two requests have the same QID and Time: then more than one answer to each is right."""
    key = request_key(requests["query_id"], requests["second"].astype(np.int64))
    order = np.argsort(key)
    if (key[order][1:] == key[order][:-1]).any():
        return None
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
