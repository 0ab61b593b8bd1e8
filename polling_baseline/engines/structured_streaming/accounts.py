"""What each vehicle has been charged (rules 9 and 10), in pages that a second touches few of.

A charge waits in a short list until its page is due, once a minute; a balance is what the page says and what waits.
"""

from __future__ import annotations

import numpy as np

from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.engines.structured_streaming.columns import Layout, taken
from polling_baseline.engines.structured_streaming.state import State

CHARGES = Layout(second="i2", vehicle_id="i4", toll="i8")
PAGE = Layout(vehicle_id="i4", toll="i8")
# Spreads neighbours over all pages; odd, and near the golden section of 2^32.
SPREAD = np.uint32(2654435769)
WAITING = "charges"


class Accounts:
    """The accounts of one shard's vehicles during one batch."""

    def __init__(self, state: State, pages: int) -> None:
        self._state, self._pages = state, pages
        self._waiting = [CHARGES.unpack(state.get(WAITING))]

    def charge(self, second: int, vehicles: np.ndarray, tolls: np.ndarray) -> None:
        if len(vehicles):
            seconds = np.full(len(vehicles), second, np.int16)
            self._waiting.append({"second": seconds, "vehicle_id": vehicles, "toll": tolls})

    def balances(self, seconds: np.ndarray, vehicles: np.ndarray) -> np.ndarray:
        """For each of them what was charged until the end of that second."""
        totals = np.zeros(len(vehicles), np.int64)
        waiting = CHARGES.joined(self._waiting)
        order = np.argsort(waiting["vehicle_id"], kind="stable")
        waiting = taken(waiting, order)
        first = np.searchsorted(waiting["vehicle_id"], vehicles, "left")
        count = np.searchsorted(waiting["vehicle_id"], vehicles, "right") - first
        request = np.repeat(np.arange(len(vehicles)), count)
        charge = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count - first, count)
        in_time = waiting["second"][charge] <= seconds[request]
        np.add.at(totals, request[in_time], waiting["toll"][charge[in_time]])
        pages = page_of(vehicles, self._pages)
        for page in np.unique(pages).tolist():
            rows = np.flatnonzero(pages == page)
            totals[rows] += _looked_up(PAGE.unpack(self._state.get(_name(page))), vehicles[rows])
        return totals

    def close(self, seconds: range) -> None:
        """Enter what waits for the pages that are due in these seconds, and keep the rest."""
        waiting = CHARGES.joined(self._waiting)
        pages = page_of(waiting["vehicle_id"], self._pages)
        due = np.isin(pages % spec.MINUTE_S, [second % spec.MINUTE_S for second in seconds])
        for page in np.unique(pages[due]).tolist():
            self._enter(page, taken(waiting, pages == page))
        if len(self._waiting) > 1 or due.any():
            self._state.put(WAITING, CHARGES.pack(taken(waiting, ~due)))

    def _enter(self, page: int, charges: Columns) -> None:
        before = PAGE.unpack(self._state.get(_name(page)))
        entries = PAGE.joined([before, charges])
        vehicles, account = np.unique(entries["vehicle_id"], return_inverse=True)
        totals = np.zeros(len(vehicles), np.int64)
        np.add.at(totals, account, entries["toll"])
        self._state.put(_name(page), PAGE.pack({"vehicle_id": vehicles, "toll": totals}))


def page_of(vehicles: np.ndarray, pages: int) -> np.ndarray:
    return (vehicles.astype(np.uint32) * SPREAD >> np.uint32(8)).astype(np.int64) % pages


def _name(page: int) -> str:
    return f"page {page}"


def _looked_up(page: Columns, vehicles: np.ndarray) -> np.ndarray:
    at = np.searchsorted(page["vehicle_id"], vehicles)
    known = at < len(page["vehicle_id"])
    known[known] = page["vehicle_id"][at[known]] == vehicles[known]
    tolls = np.zeros(len(vehicles), np.int64)
    tolls[known] = page["toll"][at[known]]
    return tolls
