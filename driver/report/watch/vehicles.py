"""Vehicles for the page: where each was when, and what each engine told it.

A vehicle is told much, but little that its neighbours are not told.  So for a file, a value is given as its difference
from what was told in its segment and minute first, an Emit as its difference from the first of its second: nearly all
are 0, and take no room.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from driver.report.watch.blob import pack
from driver.report.watch.road import Road
from driver.report.watch.run_frames import ON_VISITS, UNTOLD, RunFrames
from polling_baseline import spec

# A click this far from a vehicle still means it.
REACH_S = 60


def vehicles_blob(road: Road, runs: Sequence[RunFrames], vehicle_id: int | None = None) -> bytes:
    """All vehicles for a file, or one with its values as they are."""
    visits = np.arange(len(road.visits)) if vehicle_id is None else _rows(road.visits["vehicle_id"], vehicle_id)
    asked = np.argsort(road.requests["vehicle_id"], kind="stable")
    if vehicle_id is not None:
        asked = asked[road.requests["vehicle_id"][asked] == vehicle_id]
    visit = road.visits[visits]
    arrays = {
        "visits.vehicle_id": _steps(visit["vehicle_id"], "<i4"),
        "visits.second": _steps(visit["second"], "<u2"),
        "visits.place": _steps(visit["place"], "<u2"),
        "visits.lane": visit["lane"].astype("i1"),
        "requests.kind": road.requests["kind"][asked].astype("u1"),
        "requests.vehicle_id": _steps(road.requests["vehicle_id"][asked], "<i4"),
        "requests.second": road.requests["second"][asked].astype("<u2"),
    }
    for number, run in enumerate(runs):
        for kind, values in run.answers.items():
            rows = visits if kind in ON_VISITS else asked[road.requests["kind"][asked] == spec.ANSWERS.index(kind)]
            for name, array in values.items():
                shown = array[rows]
                if vehicle_id is None:
                    shown = _difference(shown, _usual(run, road, kind, name, rows))
                arrays[f"{number}.{kind}.{name}"] = shown
    extra = [[one for one in run.extra if vehicle_id in (None, one["vehicle_id"])] for run in runs]
    return pack({"relative": vehicle_id is None, "untold": UNTOLD, "extra": extra}, arrays, 9)


def nearest_vehicle(road: Road, place: int, second: int) -> int | None:
    """Who entered that segment at about that second."""
    there = road.visits[road.visits["place"] == place]
    distance = np.abs(there["second"].astype(np.int64) - second)
    if not len(there) or distance.min() > REACH_S:
        return None
    return int(there["vehicle_id"][distance.argmin()])


def _rows(sorted_ids: npt.NDArray[Any], vehicle_id: int) -> npt.NDArray[Any]:
    first, last = (int(np.searchsorted(sorted_ids, vehicle_id, side)) for side in ("left", "right"))
    return np.arange(first, last)


def _steps(values: npt.NDArray[Any], kind: str) -> npt.NDArray[Any]:
    """Each value less the one before, which wraps around."""
    wide = values.astype(np.int64)
    return np.diff(wide, prepend=0).astype(kind)


def _usual(run: RunFrames, road: Road, kind: str, name: str, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    second = (road.visits if kind in ON_VISITS else road.requests)["second"][rows]
    if name == "emit_ms":
        return run.first_emit_ms(kind)[second]
    if kind == "toll":
        table: npt.NDArray[Any] = getattr(run, name)
        return table[road.cell_of(road.visits["place"][rows], second)]
    return np.zeros(len(rows), np.int32)


def _difference(values: npt.NDArray[Any], usual: npt.NDArray[Any]) -> npt.NDArray[Any]:
    both = (values != UNTOLD) & (usual != UNTOLD)
    return np.where(values == UNTOLD, UNTOLD, np.where(both, values - np.where(both, usual, 0), values)).astype("<i4")
