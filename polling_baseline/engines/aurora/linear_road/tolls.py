"""Subnetwork 3: tolls, alerts, and who pays (rules 4, 5, 8 and 9).

A trip's reports are 30 s apart, so vehicle and second modulo 30 tell trips of one vehicle apart.  What a trip owes is
set at each segment that it enters, and assessed when it enters the next one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS, Columns
from polling_baseline.engines.aurora.linear_road.accidents import NO_ACCIDENT, Accidents
from polling_baseline.engines.aurora.linear_road.quality import quality_of
from polling_baseline.engines.aurora.linear_road.road import Integers
from polling_baseline.engines.aurora.linear_road.statistics import Segments
from polling_baseline.engines.aurora.linear_road.vehicles import UNKNOWN
from polling_baseline.engines.aurora.model.box import Filter, Map, Mask, Synchronise, Union
from polling_baseline.engines.aurora.model.hashing import Amounts
from polling_baseline.engines.aurora.model.network import Network
from polling_baseline.engines.aurora.model.tables import Exchange, TableRead, TableWrite

GROUP = "3 tolls"
ANSWER_TYPES = {"vehicle_id": np.int32, "second": np.int16, "lav": np.int16, "toll": np.int64, "seg": np.int16}


class TollDebts:
    """Table Owed: what each trip will be charged when it leaves the segment it is in."""

    def __init__(self) -> None:
        self._amounts = Amounts()

    def settle(self, columns: Columns) -> Columns:
        """At each report that enters a segment: take what was owed, if the trip goes on; owe the new toll."""
        toll = np.where(columns["lane"] == spec.EXIT_LANE, 0, columns["toll"])
        before = self._amounts.replace(trip_of(columns["vehicle_id"], columns["second"]), toll)
        return {"assessed": np.where(columns["last_seg"] != UNKNOWN, before, 0)}

    def adopt(self, columns: Columns) -> None:
        """Take over what trips owe that come from another network."""
        came = np.flatnonzero(columns["last_seg"] != UNKNOWN)
        if len(came):
            trips = trip_of(columns["vehicle_id"][came], columns["second"][came])
            self._amounts.replace(trips, columns["owed"][came])

    def release(self, vehicles: npt.NDArray[np.int32], seconds: npt.NDArray[np.int16]) -> Integers:
        """Give away what trips owe that go on in another network."""
        return self._amounts.replace(trip_of(vehicles, seconds), np.zeros(len(vehicles), np.int64))


def trip_of(vehicles: npt.NDArray[np.int32], seconds: npt.NDArray[np.int16]) -> Integers:
    phase = seconds.astype(np.int64) % spec.REPORT_PERIOD_S
    return vehicles.astype(np.int64) * spec.REPORT_PERIOD_S + phase


def build(
    network: Network,
    reports: str,
    signals: list[str],
    accidents: Accidents,
    segments: Segments,
    owed: TollDebts,
    alone: bool,
) -> str:
    """Give the box whose output is what vehicles are charged: (second, vehicle_id, assessed)."""
    if not alone:
        reports = _with_trips_from_elsewhere(network, reports, owed)
    wait = Synchronise("minute before is over", minute_start, len(signals))
    after = network.add(wait, [reports, *signals], GROUP)
    after = network.add(Filter("enters a segment", _enters), after, GROUP)
    after = network.add(TableRead("cars and Lav", "segments", segments.of), after, GROUP)
    after = network.add(TableRead("accident ahead", "accidents", accidents.ahead), after, GROUP)
    tolled = network.add(Map("what it costs", _toll), after, GROUP)
    notified = network.add(Filter("not on the exit lane", _not_leaving), tolled, GROUP)
    after = network.add(Map("notification", _answer("toll", {})), notified, GROUP)
    network.connection_point("notifications", after, 5 * spec.MINUTE_S)
    network.output("toll", after, quality_of("toll"))
    after = network.add(Filter("warned", lambda columns: columns["accident_seg"] != NO_ACCIDENT), notified, GROUP)
    after = network.add(Map("alert", _answer("accident", {"seg": "accident_seg"})), after, GROUP)
    network.output("accident", after, quality_of("accident"))
    after = network.add(TableRead("settle", "owed", owed.settle), tolled, GROUP)
    return network.add(Filter("charged", lambda columns: columns["assessed"] > 0), after, GROUP)


def _with_trips_from_elsewhere(network: Network, reports: str, owed: TollDebts) -> str:
    """Ask for the report before of all that seem to begin a trip: it may be on another network's expressway."""
    going_on = network.add(Filter("goes on", lambda columns: columns["last_seg"] != UNKNOWN), reports, GROUP)
    new = network.add(Filter("begins here", lambda columns: columns["last_seg"] == UNKNOWN), reports, GROUP)
    new = network.add(Exchange("begun elsewhere", ("vehicle_id", "second"), _where_begun), new, GROUP)
    new = network.add(TableWrite("owed elsewhere", "owed", owed.adopt), new, GROUP)
    new = network.add(Map("begun", _without_owed), new, GROUP)
    return network.add(Union("all reports"), [going_on, new], GROUP)


def minute_start(seconds: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
    return seconds - seconds % spec.MINUTE_S


def _where_begun(columns: Columns, replies: list[Columns]) -> Columns:
    last_seg, owed = columns["last_seg"], np.zeros(len(columns["second"]), np.int64)
    for one in replies:
        last_seg = np.maximum(last_seg, one["last_seg"])
        owed = owed + one["owed"]
    return {**columns, "last_seg": last_seg, "owed": owed}


def _without_owed(columns: Columns) -> Columns:
    return {name: column for name, column in columns.items() if name != "owed"}


def _enters(columns: Columns) -> Mask:
    """Rule 5; a trip's first report has no segment before it."""
    return np.asarray(columns["last_seg"] != columns["seg"])


def _toll(columns: Columns) -> Columns:
    """Rule 4."""
    cars, lav = columns["cars"].astype(np.int64), columns["lav"]
    free = (columns["accident_seg"] != NO_ACCIDENT) | (cars <= spec.FREE_CARS) | (lav >= spec.FREE_FLOW_MPH)
    kept = {name: columns[name] for name in ("second", "vehicle_id", "lane", "last_seg", "lav", "accident_seg")}
    return {**kept, "toll": np.where(free, 0, 2 * (cars - spec.FREE_CARS) ** 2)}


def _not_leaving(columns: Columns) -> Mask:
    return np.asarray(columns["lane"] != spec.EXIT_LANE)


def _answer(kind: str, source: dict[str, str]):  # type: ignore[no-untyped-def]
    """A function that makes the columns of an answer."""

    def answer(columns: Columns) -> Columns:
        return {
            name: columns[source.get(name, name)].astype(ANSWER_TYPES[name], copy=False)
            for name in ANSWER_KINDS[kind].columns
        }

    return answer
