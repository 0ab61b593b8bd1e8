"""The road of a run, for the eye: speeds, accidents, and where each vehicle was when.

All of it comes from the data set.  Accidents are found from vehicles that stand still (rule 6), not from what engines
told; the page says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from driver.dataset.dataset_stats import LANES, PLACE, RUN, SECOND, STOP, Accident, accidents_of, end_stop, open_stops
from driver.dataset.expressways import parse_numbers
from driver.dataset.folder import Dataset, read_minutes
from driver.dataset.relabel import Copy, copies_of, moved_reports, moved_requests
from driver.dataset.vehicles import Vehicles, slot_of
from driver.report.watch import MOST_XWAYS, XWAYS_SHOWN
from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.compiled import compiled
from polling_baseline.refusal import Refusal

# A row of the picture of speeds.
ROW_S = 10
NO_SPEED = 255
REPORTS = ("second", "vehicle_id", "speed_mph", "lane", "dir", "seg", "position_ft", "xway")
REQUESTS = ("kind", "second", "vehicle_id", "query_id")
# Where a vehicle's last report came from, beside what a survey of the data set keeps of it.
WHERE = 3
# A vehicle that enters a segment; `place` is its direction and segment, with the expressway in front later on.
VISIT = np.dtype([("vehicle_id", np.int32), ("second", np.int16), ("place", np.int16), ("lane", np.int8)], align=True)
# A vehicle or request and a second make one number.
SECOND_BITS = 14


@dataclass(frozen=True, slots=True)
class Road:
    """Some expressways of a data set during a run; `visits` by vehicle and second, `requests` by query and second."""

    xways: list[int]
    seconds: range
    # Mean speed by expressway, direction, row of ROW_S seconds and segment.
    speed_mph: npt.NDArray[Any]
    accidents: list[Accident]
    visits: npt.NDArray[Any]
    requests: Columns

    @property
    def minutes(self) -> int:
        return len(self.seconds) // spec.MINUTE_S

    @property
    def cells(self) -> int:
        """Expressway, direction, minute and segment, in this order."""
        return len(self.xways) * 2 * self.minutes * spec.SEGMENTS

    def cell_of(self, place: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[Any]:
        minute = (second.astype(np.int64) - self.seconds.start) // spec.MINUTE_S
        return (place.astype(np.int64) // spec.SEGMENTS * self.minutes + minute) * spec.SEGMENTS + place % spec.SEGMENTS


@compiled
def _look(second, vehicle, speed, lane, direction, seg, position, start, ids, values, speeds, counts, visits, stops):  # type: ignore[no-untyped-def]
    """Add a minute's reports to the speeds; note who enters a segment and each stop that ends; give both numbers."""
    entered, ended = 0, 0
    for row in range(len(second)):
        line = (second[row] - start) // ROW_S
        speeds[direction[row], line, seg[row]] += speed[row]
        counts[direction[row], line, seg[row]] += 1
        place = (position[row] * 2 + direction[row]) * LANES + lane[row]
        where = direction[row] * spec.SEGMENTS + seg[row]
        slot = slot_of(ids, vehicle[row])
        ids[slot] = vehicle[row]
        known = values[slot]
        ended = end_stop(known, second[row], stops, ended)
        goes_on = known[SECOND] == second[row] - spec.REPORT_PERIOD_S
        if not goes_on or known[WHERE] != where:
            visit = visits[entered]
            visit.vehicle_id, visit.second, visit.place, visit.lane = vehicle[row], second[row], where, lane[row]
            entered += 1
        known[RUN] = known[RUN] + 1 if goes_on and known[PLACE] == place else 1
        known[SECOND], known[PLACE], known[WHERE] = second[row], place, where
    return entered, ended


def choose_xways(text: str | None, known: Sequence[int]) -> list[int]:
    """The expressways that an option names, or the first ones."""
    if text is None:
        return list(known)[:XWAYS_SHOWN]
    chosen = parse_numbers(text, known, "the run")
    if len(chosen) > MOST_XWAYS:
        raise Refusal(f"--xways names {len(chosen)} expressways; {MOST_XWAYS} can be shown at once")
    return chosen


def read_road(
    dataset: Dataset, xways: Sequence[int], seconds: range, advance: Callable[[float], None] = lambda minutes: None
) -> Road:
    """Look at all reports of these expressways and seconds; `advance` hears of the minutes seen."""
    copies = dict(zip(dataset.traffic, copies_of(dataset), strict=True))
    parts = [_read_xway(copies[xway], xway, seconds, dataset.ignored, advance) for xway in xways]
    visits = np.concatenate([part.visits for part in parts])
    for number, part in enumerate(parts):
        first = sum(len(other.visits) for other in parts[:number])
        visits["place"][first : first + len(part.visits)] += number * 2 * spec.SEGMENTS
    requests = {name: np.concatenate([part.requests[name] for part in parts]) for name in REQUESTS}
    order = np.lexsort((requests["second"], requests["query_id"]))
    return Road(
        xways=list(xways),
        seconds=seconds,
        speed_mph=np.stack([part.speed_mph for part in parts]),
        accidents=sorted((a for part in parts for a in part.accidents), key=lambda one: (one.from_second, one.xway)),
        visits=visits[np.argsort(key_of(visits["vehicle_id"], visits["second"]), kind="stable")],
        requests={name: column[order] for name, column in requests.items()},
    )


def key_of(ids: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return ids.astype(np.int64) << SECOND_BITS | second


def _read_xway(copy: Copy, xway: int, seconds: range, ignored: Sequence[int], advance: Callable[[float], None]) -> Road:
    vehicles = Vehicles(values=4)
    speeds, counts = np.zeros((2, 2, -(-len(seconds) // ROW_S), spec.SEGMENTS))
    visits, stops, requests = [np.empty(0, VISIT)], [np.empty(0, STOP)], []
    first, last = spec.minute_of(seconds.start), spec.minute_of(seconds[-1])
    for _, table in read_minutes(copy.path, first, last):
        kind = table["kind"].to_numpy()
        is_report, is_request = kind == spec.REPORT, ~np.isin(kind, [spec.REPORT, *ignored])
        report = moved_reports({name: table[name].to_numpy()[is_report] for name in REPORTS}, copy)
        requests.append(moved_requests({name: table[name].to_numpy()[is_request] for name in REQUESTS}, copy))
        rows = len(report["second"])
        vehicles.reserve(rows)
        entered, ended = np.empty(rows, VISIT), np.empty(rows, STOP)
        columns = (report[name] for name in REPORTS[:-1])
        state = (vehicles.ids, vehicles.values, speeds, counts, entered, ended)
        visit_count, stop_count = _look(*columns, seconds.start, *state)
        visits.append(entered[:visit_count].copy())
        stops.append(ended[:stop_count].copy())
        advance(1)
    mean = np.divide(speeds, counts, out=np.full_like(speeds, NO_SPEED), where=counts > 0)
    return Road(
        xways=[xway],
        seconds=seconds,
        speed_mph=np.rint(mean).astype(np.uint8),
        accidents=accidents_of(xway, np.concatenate([*stops, open_stops(vehicles)]), seconds.stop),
        visits=np.concatenate(visits),
        requests={
            name: np.concatenate([part[name] for part in requests]) if requests else np.empty(0, np.int64)
            for name in REQUESTS
        },
    )
