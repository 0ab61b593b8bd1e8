"""Stopped vehicles, and the accidents that two of them make (rule 6)."""

from __future__ import annotations

import numpy as np

from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.engines.structured_streaming.columns import Layout, taken
from polling_baseline.engines.structured_streaming.trips import Second

# From `start` until before `end` the vehicle is stopped at the spot.
STOPS = Layout(vehicle_id="i4", start="i4", end="i4", road="i4", lane="i1", position_ft="i4")
SPOT = ("road", "lane", "position_ft")


def follow(stops: Columns, now: Second) -> Columns:
    """The stops after a second: a vehicle that reports is stopped no more, unless this very report is from a stop."""
    vehicles = now.reports["vehicle_id"]
    end = stops["end"]
    if len(end) and len(vehicles):
        row = np.minimum(np.searchsorted(vehicles, stops["vehicle_id"]), len(vehicles) - 1)
        end = np.where(vehicles[row] == stops["vehicle_id"], np.minimum(end, now.second), end)
    stopped = taken(now.reports, now.stops)
    new = {
        "vehicle_id": stopped["vehicle_id"],
        "start": np.full(len(now.stops), now.second),
        "end": np.full(len(now.stops), now.second + spec.REPORT_PERIOD_S),
        "road": stopped["place"] // spec.SEGMENTS,
        "lane": stopped["lane"],
        "position_ft": stopped["position_ft"],
    }
    return STOPS.joined([{**stops, "end": end}, new])


def cut_at(stops: Columns, minute_end: int) -> tuple[Columns, Columns]:
    """What of the stops lies before the end of a minute, and what after it."""
    before = {**stops, "end": np.minimum(stops["end"], minute_end)}
    after = {**stops, "start": np.maximum(stops["start"], minute_end)}
    return tuple(taken(part, part["start"] < part["end"]) for part in (before, after))  # type: ignore[return-value]


def accident_places(stops: Columns) -> np.ndarray:
    """Where two or more vehicles were stopped at one spot at one time; no vehicle has two stops at a time."""
    order = np.lexsort([stops["start"], *(stops[name] for name in SPOT)])
    moments = np.concatenate([stops["start"][order], stops["end"][order]])
    change = np.repeat([1, -1], len(order))
    spots = {name: np.tile(stops[name][order], 2) for name in SPOT}
    # At one moment, who leaves goes before who comes.
    order = np.lexsort([change, moments, *spots.values()])
    spots = taken(spots, order)
    # Everybody who comes to a spot leaves it: the sum is 0 where the next spot begins.
    together = np.cumsum(change[order]) >= spec.ACCIDENT_VEHICLES
    return np.unique(spots["road"][together] * spec.SEGMENTS + spots["position_ft"][together] // spec.SEGMENT_FT)
