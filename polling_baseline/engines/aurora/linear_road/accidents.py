"""Subnetwork 1: stopped cars, and accidents (rules 1, 6 and 7).

A stop lasts from its report to the vehicle's next one, 29 s at most, so it is looked at in pieces, one for each minute
it reaches into, when the minute is over: until when was the vehicle not seen again?  Two pieces at one spot that
overlap are an accident.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.engines.aurora.linear_road.road import (
    CELLS,
    Integers,
    by_minute,
    cell_of,
    position_of,
    road_of,
    spot_of,
)
from polling_baseline.engines.aurora.linear_road.vehicles import Vehicles
from polling_baseline.engines.aurora.model.box import Filter, Map, Mask, taken
from polling_baseline.engines.aurora.model.join import Join
from polling_baseline.engines.aurora.model.network import Network
from polling_baseline.engines.aurora.model.tables import Exchange, TableRead, TableWrite
from polling_baseline.engines.aurora.model.train import stacked
from polling_baseline.engines.aurora.model.windows import Latch

GROUP = "1 accidents"
LAST_STOP_S = spec.REPORT_PERIOD_S
NO_ACCIDENT = -1


class Accidents:
    """Table Accidents: for each segment the nearest accident ahead, by the minute in which it acts."""

    def __init__(self) -> None:
        self._nearest: dict[int, npt.NDArray[np.int8]] = {}

    def enter(self, columns: Columns) -> None:
        for minute, rows in by_minute(columns["second"]):
            road, seg = columns["road"][rows], columns["seg"][rows]
            self._warn(self._nearest.setdefault(minute + 1, np.full(CELLS, NO_ACCIDENT, np.int8)), road, seg)
            for old in [known for known in self._nearest if known < minute]:
                del self._nearest[old]

    def ahead(self, columns: Columns) -> Columns:
        """The segment of the nearest accident ahead of each report."""
        segments = np.full(len(columns["second"]), NO_ACCIDENT, np.int8)
        for minute, rows in by_minute(columns["second"]):
            if minute in self._nearest:
                segments[rows] = self._nearest[minute][columns["cell"][rows]]
        return {"accident_seg": segments}

    def _warn(self, nearest: npt.NDArray[np.int8], road: Integers, seg: Integers) -> None:
        """Tell the segments upstream; a nearer accident stays."""
        upstream = np.where(road % 2 == spec.EAST, -1, 1)
        for distance in range(spec.ALERT_SEGMENTS + 1):
            warned = seg + upstream * distance
            cell = cell_of(road, warned)
            on_road = (warned >= 0) & (warned < spec.SEGMENTS)
            known = nearest[np.where(on_road, cell, 0)]
            new = on_road & ((known == NO_ACCIDENT) | (np.abs(known - warned) > distance))
            nearest[cell[new]] = seg[new]


def build(network: Network, reports: str, vehicles: Vehicles, accidents: Accidents, alone: bool) -> tuple[str, str]:
    """Give the boxes whose outputs are the reports with what is known of their trips, and all accidents entered."""
    after = network.add(TableRead("report 30 s before", "vehicles", vehicles.before), reports, GROUP)
    after = network.add(Map("spot and segment", _spot), after, GROUP)
    known = network.add(TableWrite("remember", "vehicles", vehicles.enter), after, GROUP)
    after = network.add(Filter("stopped", _stopped), known, GROUP)
    after = network.add(Latch("stops by minute", spec.MINUTE_S, {}, _pieces), after, GROUP)

    def seen_again(columns: Columns) -> Columns:
        seen = vehicles.first_seen(columns["vehicle_id"], columns["stopped"], columns["ends"])
        return {"ends": np.minimum(columns["ends"], seen)}

    after = network.add(TableRead("seen again", "vehicles", seen_again), after, GROUP)
    if not alone:
        after = network.add(Exchange("seen elsewhere", ("vehicle_id", "stopped", "ends"), _sooner), after, GROUP)
    pair = Join("at the same spot", "spot", LAST_STOP_S - 1, "begins", spec.MINUTE_S, _two_vehicles)
    after = network.add(pair, [after, after], GROUP)
    after = network.add(Filter("at the same time", _overlap), after, GROUP)
    after = network.add(Map("accident segment", _segment), after, GROUP)
    network.connection_point("accidents", after, 30 * spec.MINUTE_S)
    return known, network.add(TableWrite("accidents ahead", "accidents", accidents.enter), after, GROUP)


def _spot(columns: Columns) -> Columns:
    spot = spot_of(columns)
    again = columns["last_spot"] == spot
    stood = np.where(again, np.minimum(columns["last_stood"] + 1, spec.STOP_REPORTS), 1)
    kept = {name: columns[name] for name in ("second", "vehicle_id", "speed_mph", "lane", "seg", "last_seg")}
    return {**kept, "spot": spot, "stood": stood, "cell": cell_of(road_of(spot), columns["seg"])}


def _stopped(columns: Columns) -> Mask:
    lane = columns["lane"]
    travels = (lane >= spec.TRAVEL_LANES[0]) & (lane <= spec.TRAVEL_LANES[-1])
    return np.asarray((columns["stood"] >= spec.STOP_REPORTS) & travels)


def _pieces(going_on: Columns, new: Columns, start: int) -> tuple[Columns, Columns]:
    """The stops that reach into the next minute; and this minute's where two vehicles stood, cut at its ends."""
    if new:
        fresh = {"vehicle_id": new["vehicle_id"], "spot": new["spot"], "stopped": new["second"].astype(np.int64)}
        stops = stacked([going_on, fresh])
    else:
        stops = going_on
    if not stops:
        return {}, {}
    end = start + spec.MINUTE_S
    ends = stops["stopped"] + LAST_STOP_S
    pieces = {**stops, "begins": np.maximum(stops["stopped"], start), "ends": np.minimum(ends, end)}
    rest, met = np.flatnonzero(ends > end), np.flatnonzero(_met(stops["spot"], stops["vehicle_id"]))
    return taken(stops, rest) if len(rest) else {}, taken(pieces, met) if len(met) else {}


def _met(spot: Integers, vehicle: npt.NDArray[np.int32]) -> Mask:
    """Who was not alone at its spot: in a jam many stand still, but hardly ever two at one spot."""
    order = np.argsort(spot)
    starts = np.flatnonzero(np.diff(spot[order], prepend=-1))
    several = np.minimum.reduceat(vehicle[order], starts) != np.maximum.reduceat(vehicle[order], starts)
    met = np.empty(len(spot), bool)
    met[order] = np.repeat(several, np.diff(starts, append=len(spot)))
    return met


def _sooner(columns: Columns, replies: list[Columns]) -> Columns:
    """Whoever saw the vehicle first ends its stop."""
    ends = columns["ends"]
    for one in replies:
        ends = np.minimum(ends, one["seen"])
    return {**columns, "ends": ends}


def _two_vehicles(pairs: Columns) -> Mask:
    """Each pair once."""
    return np.asarray(pairs["vehicle_id"] < pairs["other_vehicle_id"])


def _overlap(pairs: Columns) -> Mask:
    begins = np.maximum(pairs["begins"], pairs["other_begins"])
    return np.asarray(begins < np.minimum(pairs["ends"], pairs["other_ends"]))


def _segment(pairs: Columns) -> Columns:
    spot = pairs["spot"]
    return {"second": pairs["second"], "road": road_of(spot), "seg": position_of(spot) // spec.SEGMENT_FT}
