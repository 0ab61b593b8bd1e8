"""Accounts, and the answers to requests for a balance (rules 9 and 10)."""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.engines.aurora.linear_road.quality import quality_of
from polling_baseline.engines.aurora.linear_road.road import Integers
from polling_baseline.engines.aurora.model.box import Map, Synchronise
from polling_baseline.engines.aurora.model.hashing import Amounts
from polling_baseline.engines.aurora.model.network import Network
from polling_baseline.engines.aurora.model.tables import Exchange, TableRead, TableWrite

GROUP = "requests"


class Accounts:
    """Table Accounts: what each vehicle has paid, as of any of the last seconds."""

    def __init__(self) -> None:
        self._paid = Amounts()
        # Charges of the last minute, as they came, each part with its last second.
        self._latest: deque[tuple[int, Columns]] = deque()

    def charge(self, columns: Columns) -> None:
        self._paid.add(columns["vehicle_id"], columns["assessed"])
        last = int(columns["second"].max())
        self._latest.append((last, {name: columns[name] for name in ("second", "vehicle_id", "assessed")}))
        while self._latest[0][0] < last - spec.BALANCE_AGE_S:
            self._latest.popleft()

    def balance(self, vehicles: npt.NDArray[np.int32], seconds: npt.NDArray[np.int16]) -> Integers:
        """What each vehicle had paid at the end of a second."""
        paid = self._paid.of(vehicles)
        first = int(seconds.min())
        for last, part in self._latest:
            if last > first:
                paid -= _paid_later(part, vehicles, seconds)
        return paid


def _paid_later(part: Columns, vehicles: npt.NDArray[np.int32], seconds: npt.NDArray[np.int16]) -> Integers:
    """What of these charges came after each second."""
    paid = np.zeros(len(vehicles), np.int64)
    order = np.argsort(part["vehicle_id"], kind="stable")
    paying = part["vehicle_id"][order]
    first, last = (np.searchsorted(paying, vehicles, side=side) for side in ("left", "right"))
    for row in np.flatnonzero(last > first):
        charges = order[first[row] : last[row]]
        paid[row] = part["assessed"][charges][part["second"][charges] > seconds[row]].sum()
    return paid


def build(network: Network, requests: str, charged: str, accounts: Accounts, alone: bool) -> None:
    """`requests` gives the requests for a balance, `charged` what vehicles are charged."""
    paid = network.add(TableWrite("charge", "accounts", accounts.charge), charged, "3 tolls")
    # A balance counts all that is paid in the request's second.
    after = network.add(Synchronise("second is over", lambda seconds: seconds + 1, 1), [requests, paid], GROUP)

    def balance(columns: Columns) -> Columns:
        return {"balance": accounts.balance(columns["vehicle_id"], columns["second"])}

    after = network.add(TableRead("paid so far", "accounts", balance), after, GROUP)
    if not alone:
        after = network.add(Exchange("paid elsewhere", ("vehicle_id", "second"), _together), after, GROUP)
    network.add(Map("account balance", _answer), after, GROUP)
    network.output("balance", "account balance", quality_of("balance"))


def _together(columns: Columns, replies: list[Columns]) -> Columns:
    return {**columns, "balance": np.sum([columns["balance"], *(one["balance"] for one in replies)], axis=0)}


def _answer(columns: Columns) -> Columns:
    second = columns["second"]
    return {
        "second": second,
        "result_second": second,
        "query_id": columns["query_id"],
        "balance": columns["balance"],
    }
