"""Rules 6 and 7: which vehicles stand, when that is an accident, and who has it ahead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from driver.validate.reference.statistics import Statistics
from driver.validate.reference.trips import Trips, joined
from polling_baseline import spec
from polling_baseline.batch import Columns

Integers = npt.NDArray[np.int64]
STOP = ("vehicle_id", "road", "lane", "position_ft", "second", "until_second")
ROAD_FT = spec.SEGMENTS * spec.SEGMENT_FT
# How far ahead the nearest accident is, by the bits of all.
NEAREST = np.array([max((bits & -bits).bit_length() - 1, 0) for bits in range(2 << spec.ALERT_SEGMENTS)])


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
        "vehicle_id": report["vehicle_id"][at].astype(np.int64),
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


def accidents_of(parts: Sequence[Columns]) -> Columns:
    """The minutes, counted from 0, in which an accident holds at a spot, with the first and last of its seconds."""
    stops = joined(parts, STOP)
    spot = (stops["road"] * 8 + stops["lane"]) * ROAD_FT + stops["position_ft"]
    spots = np.r_[spot, spot]
    at = np.r_[stops["second"], stops["until_second"] + 1]
    change = np.repeat([1, -1], len(spot))
    # Who leaves at a second no longer stands there when another arrives.
    order = np.lexsort((change, at, spots))
    spots, at, standing = spots[order], at[order], np.cumsum(change[order])
    holds = np.flatnonzero((standing >= spec.ACCIDENT_VEHICLES)[:-1] & (at[1:] > at[:-1]))
    return _by_minute(spots[holds], at[holds], at[holds + 1] - 1)


def _by_minute(spot: Integers, start: Integers, end: Integers) -> Columns:
    first = start // spec.MINUTE_S
    many = end // spec.MINUTE_S - first + 1
    of = np.repeat(np.arange(len(spot)), many)
    minute = first[of] + np.arange(len(of)) - np.repeat(np.cumsum(many) - many, many)
    first_second = np.maximum(start[of], minute * spec.MINUTE_S)
    last_second = np.minimum(end[of], minute * spec.MINUTE_S + spec.MINUTE_S - 1)
    order = np.lexsort((first_second, minute, spot[of]))
    of, minute, first_second, last_second = of[order], minute[order], first_second[order], last_second[order]
    spots = spot[of]
    starts = np.flatnonzero(np.r_[True, (spots[1:] != spots[:-1]) | (minute[1:] != minute[:-1])][: len(of)])
    road_lane, position_ft = np.divmod(spots[starts], ROAD_FT)
    return {
        "road": road_lane // 8,
        "seg": position_ft // spec.SEGMENT_FT,
        "lane": road_lane % 8,
        "position_ft": position_ft,
        "minute": minute[starts],
        "first_second": first_second[starts],
        "last_second": np.maximum.reduceat(last_second, starts) if len(starts) else last_second,
    }


def ahead_of(accidents: Columns, statistics: Statistics, end_early: bool = False) -> npt.NDArray[np.uint8]:
    """Rule 7: for each place and minute, bit d says that there is an accident d segments ahead.

    Where accidents end early, one acts only as long as there is an accident in that minute as well.
    """
    ahead = np.zeros(statistics.lav.shape, np.uint8)
    held = set(zip(*(accidents[name].tolist() for name in ("road", "seg", "minute")), strict=True))
    for road, seg, minute in held:
        if end_early and (road, seg, minute + 1) not in held:
            continue
        for distance in range(spec.ALERT_SEGMENTS + 1):
            warned = seg - distance if road % 2 == spec.EAST else seg + distance
            place = road * spec.SEGMENTS + warned - statistics.first_place
            if 0 <= warned < spec.SEGMENTS and 0 <= place < len(ahead):
                ahead[place, minute + 1] |= 1 << distance
    return ahead


def segments_ahead(place: int, ahead: int) -> list[int]:
    """The segments of the accidents ahead of a place, the nearest first."""
    road, seg = divmod(place, spec.SEGMENTS)
    downstream = 1 if road % 2 == spec.EAST else -1
    return [seg + downstream * distance for distance in range(spec.ALERT_SEGMENTS + 1) if ahead >> distance & 1]


def nearest_ahead(place: Integers, ahead: npt.NDArray[np.uint8]) -> Integers:
    """Rule 8: the segment of the nearest accident; of no meaning where there is none ahead."""
    road, seg = np.divmod(place, spec.SEGMENTS)
    return seg + np.where(road % 2 == spec.EAST, 1, -1) * NEAREST[ahead]
