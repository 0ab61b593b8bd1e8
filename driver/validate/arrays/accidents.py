"""Rules 6 and 7: which vehicles stand, when that is an accident, and who has it ahead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from driver.validate.arrays.statistics import WIDTH
from driver.validate.arrays.trips import Trips, joined
from polling_baseline import spec
from polling_baseline.batch import Columns

STOP = ("road", "lane", "position_ft", "second", "until_second")


def stops_of(trips: Trips) -> Columns:
    """Rule 6: where and from when until when (inclusive) a vehicle stands; a vehicle's intervals never overlap."""
    report = trips.reports
    stands = trips.same_as_before("xway", "dir", "lane", "position_ft")
    stopped = stands.copy()
    # Of four reports from one spot the first need not come from where the one before it came from.
    for earlier in range(1, spec.STOP_REPORTS - 1):
        stopped[earlier:] &= stands[:-earlier]
        stopped[:earlier] = False
    at = np.flatnonzero(stopped & np.isin(report["lane"], spec.TRAVEL_LANES))
    second = report["second"][at].astype(np.int64)
    columns = {
        "road": report["xway"][at].astype(np.int64) * 2 + report["dir"][at],
        "lane": report["lane"][at].astype(np.int64),
        "position_ft": report["position_ft"][at].astype(np.int64),
        "second": second,
        "until_second": second + spec.REPORT_PERIOD_S - 1,
    }
    _cut_short(columns["until_second"], trips, at)
    return columns


def _cut_short(until: npt.NDArray[np.int64], trips: Trips, stops: npt.NDArray[np.int64]) -> None:
    """The next report, of whichever trip, speaks for itself."""
    mixed = trips.mixed
    if not mixed[stops].any():
        return

    def moment(rows: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        vehicle = trips.reports["vehicle_id"][rows].astype(np.int64)
        return vehicle * 2 * spec.RUN_SECONDS + trips.reports["second"][rows]

    moments = np.sort(moment(mixed))
    moments = np.r_[moments, np.iinfo(np.int64).max]
    own = moment(stops)
    upcoming = moments[np.searchsorted(moments, own, "right")]
    soon = mixed[stops] & (upcoming - own < spec.REPORT_PERIOD_S)
    until[soon] -= spec.REPORT_PERIOD_S - (upcoming - own)[soon]


def accidents_of(parts: Sequence[Columns]) -> set[tuple[int, int, int]]:
    """Road, segment and minute, counted from 0, of each accident in a segment."""
    stops = joined(parts, STOP)
    spot = (stops["road"] * 8 + stops["lane"]) * (spec.SEGMENTS * spec.SEGMENT_FT) + stops["position_ft"]
    spots = np.r_[spot, spot]
    at = np.r_[stops["second"], stops["until_second"] + 1]
    change = np.repeat([1, -1], len(spot))
    # Who leaves at a second no longer stands there when another arrives.
    order = np.lexsort((change, at, spots))
    spots, at, standing = spots[order], at[order], np.cumsum(change[order])
    holds = np.flatnonzero((standing >= spec.ACCIDENT_VEHICLES)[:-1] & (at[1:] > at[:-1])) if len(at) else at
    accidents: set[tuple[int, int, int]] = set()
    for number in holds.tolist():
        road = int(spots[number]) // (spec.SEGMENTS * spec.SEGMENT_FT) // 8
        seg = int(spots[number]) % (spec.SEGMENTS * spec.SEGMENT_FT) // spec.SEGMENT_FT
        minutes = range(int(at[number]) // spec.MINUTE_S, int(at[number + 1] - 1) // spec.MINUTE_S + 1)
        accidents.update((road, seg, minute) for minute in minutes)
    return accidents


def ahead_of(accidents: set[tuple[int, int, int]], first_place: int, places: int) -> npt.NDArray[np.int16]:
    """Rule 7: for each place, counted from the first, and minute the nearest accident ahead; -1 if there is none."""
    ahead = np.full((places, WIDTH), -1, np.int16)
    for distance in range(spec.ALERT_SEGMENTS, -1, -1):
        for road, seg, minute in accidents:
            warned = seg - distance if road % 2 == spec.EAST else seg + distance
            place = road * spec.SEGMENTS + warned - first_place
            if 0 <= warned < spec.SEGMENTS and 0 <= place < places:
                ahead[place, minute + 1] = seg
    return ahead
