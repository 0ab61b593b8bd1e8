"""What is in a data set: how many tuples each second brings, how fast the traffic is where, and all accidents.

One pass over the rows, a minute at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from driver.dataset.folder import Dataset, read_minutes
from driver.dataset.vehicles import Vehicles, slot_of
from polling_baseline import spec
from polling_baseline.compiled import compiled

COLUMNS = ("kind", "second", "vehicle_id", "speed_mph", "lane", "dir", "seg", "position_ft")
# A stop, as long as one report can show it: the vehicle stands at a place from a second until before another.
STOP = np.dtype([("place", np.int64), ("from_second", np.int64), ("until_second", np.int64)], align=True)
LANES = spec.EXIT_LANE + 1
# What is known of a vehicle: the second and place of its last report, and how many in a row it sent from there.
SECOND, PLACE, RUN = range(3)


@dataclass(frozen=True, slots=True)
class Accident:
    """Rule 6: two or more vehicles stopped at one place, from its first to its last second."""

    xway: int
    dir: int
    lane: int
    position_ft: int
    seg: int
    from_second: int
    to_second: int


@dataclass(frozen=True, slots=True)
class Survey:
    """The findings; `per_second` by type and second, the mean speed by expressway, direction, minute and segment."""

    per_second: np.ndarray
    speed_mph: dict[int, np.ndarray]
    accidents: list[Accident]

    @property
    def tuples_per_second(self) -> np.ndarray:
        return self.per_second.sum(axis=0)

    @property
    def peak_second(self) -> int:
        return int(self.tuples_per_second.argmax())


@compiled
def end_stop(known, second, stops, count):  # type: ignore[no-untyped-def]
    """Rule 6: if a vehicle's reports until now showed a stop, note it, as it ends here; give how many are noted."""
    if known[RUN] < spec.STOP_REPORTS:
        return count
    stop = stops[count]
    stop.place, stop.from_second = known[PLACE], known[SECOND]
    stop.until_second = min(known[SECOND] + spec.REPORT_PERIOD_S, second)
    return count + 1


@compiled
def _look(kind, second, vehicle_id, speed, lane, direction, seg, position, ids, values, rate, miles, reports, stops):  # type: ignore[no-untyped-def]
    """Count a minute's rows, and note each stop that they end; give how many."""
    count = 0
    for row in range(len(kind)):
        rate[kind[row], second[row]] += 1
        if kind[row] != spec.REPORT:
            continue
        minute = second[row] // spec.MINUTE_S
        miles[direction[row], minute, seg[row]] += speed[row]
        reports[direction[row], minute, seg[row]] += 1
        place = (position[row] * 2 + direction[row]) * LANES + lane[row]
        slot = slot_of(ids, vehicle_id[row])
        ids[slot] = vehicle_id[row]
        known = values[slot]
        count = end_stop(known, second[row], stops, count)
        same = known[SECOND] == second[row] - spec.REPORT_PERIOD_S and known[PLACE] == place
        known[RUN] = known[RUN] + 1 if same else 1
        known[SECOND], known[PLACE] = second[row], place
    return count


def survey(dataset: Dataset, advance: Callable[[float], None] = lambda amount: None) -> Survey:
    """Look at all traffic; `advance` hears of the rows seen."""
    per_second = np.zeros((max(spec.USED) + 1, dataset.seconds), np.int64)
    speed_mph: dict[int, np.ndarray] = {}
    accidents: list[Accident] = []
    for xway, path in dataset.traffic.items():
        vehicles = Vehicles(values=3)
        miles, reports = np.zeros((2, 2, -(-dataset.seconds // spec.MINUTE_S), spec.SEGMENTS))
        stops: list[np.ndarray] = []
        for _, table in read_minutes(path):
            vehicles.reserve(table.num_rows)
            minute_stops = np.empty(table.num_rows, STOP)
            columns = (table[name].to_numpy() for name in COLUMNS)
            count = _look(*columns, vehicles.ids, vehicles.values, per_second, miles, reports, minute_stops)
            stops.append(minute_stops[:count].copy())
            advance(table.num_rows)
        accidents += accidents_of(xway, np.concatenate([*stops, open_stops(vehicles)]), dataset.seconds)
        speed_mph[xway] = np.divide(miles, reports, out=np.full_like(miles, np.nan), where=reports > 0)
    return Survey(per_second, speed_mph, sorted(accidents, key=lambda accident: (accident.from_second, accident.xway)))


def open_stops(vehicles: Vehicles) -> np.ndarray:
    """The stops that no later report ended."""
    last = vehicles.values[vehicles.values[:, RUN] >= spec.STOP_REPORTS]
    stops = np.empty(len(last), STOP)
    stops["place"], stops["from_second"] = last[:, PLACE], last[:, SECOND]
    stops["until_second"] = last[:, SECOND] + spec.REPORT_PERIOD_S
    return stops


def accidents_of(xway: int, stops: np.ndarray, seconds: int) -> list[Accident]:
    """Where stops of different vehicles overlap.  Those of one vehicle never do, so it is enough to count."""
    stops = stops[np.isin(stops["place"] % LANES, spec.TRAVEL_LANES)]
    place = np.concatenate([stops["place"], stops["place"]])
    second = np.concatenate([stops["from_second"], stops["until_second"]])
    step = np.repeat([1, -1], len(stops))
    order = np.lexsort([second, place])
    place, second, standing = place[order], second[order], step[order].cumsum()
    # Of several changes at one place and second only the outcome counts.
    final = np.append((np.diff(place) != 0) | (np.diff(second) != 0), True)[: len(place)]
    place, second, standing = place[final], second[final], standing[final]
    held = np.diff(standing >= spec.ACCIDENT_VEHICLES, prepend=False, append=False)
    begins, ends = np.flatnonzero(held)[::2], np.flatnonzero(held)[1::2]
    return [
        Accident(
            xway=xway,
            dir=int(where // LANES % 2),
            lane=int(where % LANES),
            position_ft=int(where // LANES // 2),
            seg=int(where // LANES // 2 // spec.SEGMENT_FT),
            from_second=int(first),
            to_second=int(min(until, seconds)) - 1,
        )
        for where, first, until in zip(place[begins], second[begins], second[ends], strict=True)
    ]
