"""One second of a shard's vehicles: trips, crossings, tolls owed, stops, and the count of cars.

A report continues a trip if and only if its vehicle reported 30 s before (rule 1).  So the state is a ring of seconds:
a second reads the slot of 30 s before, fills its own, and touches no other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.engines.structured_streaming.columns import Layout, taken
from polling_baseline.engines.structured_streaming.state import State
from polling_baseline.engines.structured_streaming.tolls import TollTable

# Slots sorted by vehicle: those of a minute are kept for the count of cars, whose end reads who was there and seldom
# where; those of a trip are kept for its next report.
VEHICLES = Layout(vehicle_id="i4")
SIGHTINGS = Layout(place="i4", speed_mph="i2")
TRIPS = Layout(position_ft="i4", lane="i1", reports_here="i1", owed="i8")


@dataclass(frozen=True, slots=True)
class Second:
    """What came of a second's reports, which are sorted by vehicle."""

    second: int
    reports: Columns
    # Of each report: whether there is one of 30 s before, which row of that slot it is, and where it was.
    continued: np.ndarray
    previous_place: np.ndarray
    previous_speed: np.ndarray
    # Rows of reports from a stop, and vehicles of 30 s before that are not there any more.
    stops: np.ndarray
    left: np.ndarray
    tolls: Columns
    alerts: Columns
    charged: tuple[np.ndarray, np.ndarray]


def drive(state: State, second: int, reports: Columns, table: TollTable) -> Second:
    """Let a second's reports continue their trips or begin new ones, and keep them for 30 s later."""
    reports = taken(reports, np.argsort(reports["vehicle_id"]))
    before, trips = _slot(state, second - spec.REPORT_PERIOD_S)
    row, continued = _rows_of(reports["vehicle_id"], before["vehicle_id"])
    place = reports["place"]
    was = np.where(continued, _at(before["place"], row), -1)
    new_segment = continued & (was % spec.SEGMENTS != place % spec.SEGMENTS)
    notified = (~continued | new_segment) & (reports["lane"] != spec.EXIT_LANE)
    crossing = np.flatnonzero(notified)
    lav, toll, accident = table.at(place[crossing])
    owed_before = _at(trips["owed"], row)
    owed = np.where(continued & ~new_segment, owed_before, 0)
    owed[crossing] = toll
    same_spot = (
        continued
        & (was // spec.SEGMENTS == place // spec.SEGMENTS)
        & (_at(trips["position_ft"], row) == reports["position_ft"])
        & (_at(trips["lane"], row) == reports["lane"])
    )
    reports_here = np.where(same_spot, np.minimum(_at(trips["reports_here"], row) + 1, spec.STOP_REPORTS), 1)
    in_travel_lane = np.isin(reports["lane"], spec.TRAVEL_LANES)
    gone = np.ones(len(before["vehicle_id"]), bool)
    gone[row[continued]] = False
    _fill(state, second, reports, {"reports_here": reports_here, "owed": owed})
    vehicles, seconds = reports["vehicle_id"][crossing], np.full(len(crossing), second, np.int16)
    warned = accident >= 0
    charged = np.flatnonzero(new_segment & (owed_before > 0))
    return Second(
        second,
        reports,
        continued,
        was,
        _at(before["speed_mph"], row),
        np.flatnonzero((reports_here == spec.STOP_REPORTS) & in_travel_lane),
        before["vehicle_id"][gone],
        {"vehicle_id": vehicles, "second": seconds, "lav": lav, "toll": toll},
        {"second": seconds[warned], "vehicle_id": vehicles[warned], "seg": accident[warned]},
        (reports["vehicle_id"][charged], owed_before[charged]),
    )


def vehicles(state: State, second: int) -> np.ndarray:
    """Who was there in a second of the last minute."""
    return VEHICLES.unpack(state.get(_names(second)[0]))["vehicle_id"]


def sightings(state: State, second: int) -> Columns:
    """Who was where in a second of the last minute."""
    return {"vehicle_id": vehicles(state, second), **SIGHTINGS.unpack(state.get(_names(second)[1]))}


def _slot(state: State, second: int) -> tuple[Columns, Columns]:
    return sightings(state, second), TRIPS.unpack(state.get(_names(second)[2]))


def _fill(state: State, second: int, reports: Columns, trips: Columns) -> None:
    columns = {**reports, **trips}
    for name, layout in zip(_names(second), (VEHICLES, SIGHTINGS, TRIPS), strict=True):
        state.put(name, layout.pack(columns))


def _names(second: int) -> tuple[str, str, str]:
    of_minute, of_trip = second % spec.MINUTE_S, second % spec.REPORT_PERIOD_S
    return f"vehicles {of_minute}", f"seen {of_minute}", f"trips {of_trip}"


def _rows_of(wanted: np.ndarray, there: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each vehicle its row among those there, which are sorted; and whether it is there at all."""
    if not len(there):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    row = np.minimum(np.searchsorted(there, wanted), len(there) - 1)
    return row, there[row] == wanted


def _at(column: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The values in these rows; where there are none at all, zeros that nobody looks at."""
    return column[rows] if len(column) else np.zeros(len(rows), column.dtype)
