"""The rules as Walmart's validator of 2015 applies them.

A vehicle counts until it reports from the exit lane, and again from the entry lane on.  LAV is a rounded mean of all
speed readings, and 0 without any.  A segment has one accident in the whole run.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator

from driver.validate.kits.answers import AcceptedAnswers, Balance, Key
from driver.validate.kits.perl2004 import expenditures
from driver.validate.kits.road import Report, RoadView, Segment
from polling_baseline import spec

LAV_MINUTES = 5
AHEAD = 5
STOP_REPORTS = 4
NEW_TRIP_S = 60
# A balance may be as old as that.
AGE_S = 30
NO_LAV = 0
Minutes = dict[tuple[Segment, int], int]
Accidents = dict[Segment, tuple[int, float]]


def accepted_answers(road: RoadView) -> AcceptedAnswers:
    counted = {car: list(counting(reports)) for car, reports in road.vehicles.items()}
    reports = sorted((report for own in counted.values() for report in own), key=lambda report: report.second)
    lavs, cars = statistics(reports)
    accidents = accident_minutes(reports)
    tolls: dict[Key, tuple[int, int]] = {}
    alerts: dict[Key, frozenset[int]] = {}
    charges: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for car, own in counted.items():
        owed = 0
        for report, begins, enters in movements(own):
            if begins or enters:
                # Who ends a trip in a segment does not pay for it.
                if owed and not begins:
                    charges[car].append((report.second, owed))
                owed = 0
            if not (begins or enters) or report.lane == spec.EXIT_LANE:
                continue
            near = nearest(report, accidents)
            lav = lavs.get((report.segment, report.minute), NO_LAV)
            crowd = cars.get((report.segment, report.minute - 1), 0)
            is_dear = lav < spec.FREE_FLOW_MPH and crowd > spec.FREE_CARS and near is None
            owed = 2 * (crowd - spec.FREE_CARS) ** 2 if is_dear else 0
            tolls[report.second, car] = lav, owed
            if near is not None:
                alerts[report.second, car] = frozenset({near})
    asked = [request for request in road.requests if request.kind == spec.BALANCE]
    balances = {(one.second, one.query): balance(one.second, charges.get(one.vehicle, [])) for one in asked}
    return AcceptedAnswers(tolls, alerts, balances, expenditures(road))


def counting(reports: Iterable[Report]) -> Iterator[Report]:
    """Without a vehicle that is first seen leaving, and what it reports between leaving and entering."""
    is_gone = None
    for report in reports:
        if is_gone is None:
            is_gone = report.lane == spec.EXIT_LANE
        elif is_gone and report.lane == spec.ENTRY_LANE:
            is_gone = False
        if is_gone:
            continue
        yield report
        is_gone = report.lane == spec.EXIT_LANE


def movements(reports: Iterable[Report]) -> Iterator[tuple[Report, bool, bool]]:
    """Each report of a vehicle: whether it begins a trip, and whether it comes from another segment than the last."""
    last: Report | None = None
    for report in reports:
        begins = last is None or (report.lane == spec.ENTRY_LANE and report.second - last.second > NEW_TRIP_S)
        yield report, begins, last is not None and report.seg != last.seg
        last = report


def statistics(reports: Iterable[Report]) -> tuple[Minutes, Minutes]:
    """LAV by segment and minute that it holds in, and cars by segment and minute."""
    sums: Minutes = defaultdict(int)
    readings: Minutes = defaultdict(int)
    cars: dict[tuple[Segment, int], set[int]] = defaultdict(set)
    for report in reports:
        key = report.segment, report.minute
        sums[key] += report.speed
        readings[key] += 1
        cars[key].add(report.vehicle)
    lavs = {}
    for segment, minute in {(segment, minute + n) for segment, minute in sums for n in range(1, LAV_MINUTES + 1)}:
        minutes = [(segment, m) for m in range(minute - LAV_MINUTES, minute) if (segment, m) in sums]
        total, number = sum(sums[key] for key in minutes), sum(readings[key] for key in minutes)
        # Half is rounded up.
        lavs[segment, minute] = (2 * total + number) // (2 * number)
    return lavs, {key: len(own) for key, own in cars.items()}


def accident_minutes(reports: Iterable[Report]) -> Accidents:
    """First and last minute in which the accident of each segment acts; none ends before it begins."""
    at: dict[int, tuple[tuple[int, int, int, int], int]] = {}
    stopped: dict[tuple[int, int, int, int], set[int]] = defaultdict(set)
    detected: dict[Segment, tuple[int, frozenset[int], tuple[int, int, int, int]]] = {}
    cleared: dict[Segment, int] = {}
    of_car: dict[int, set[Segment]] = defaultdict(set)
    for report in reports:
        place = report.xway, report.dir, report.lane, report.position
        before, times = at.get(report.vehicle, (place, 0))
        if before != place:
            stopped[before].discard(report.vehicle)
            for segment in of_car.pop(report.vehicle, set()):
                cleared.setdefault(segment, report.minute)
            times = 0
        at[report.vehicle] = place, times + 1
        if times + 1 < STOP_REPORTS:
            continue
        stopped[place].add(report.vehicle)
        if len(stopped[place]) > 1 and report.segment not in detected:
            pair = frozenset(stopped[place])
            detected[report.segment] = report.minute, pair, place
            for car in pair:
                of_car[car].add(report.segment)
    return {segment: (minute + 1, cleared.get(segment, math.inf)) for segment, (minute, _, _) in detected.items()}


def nearest(report: Report, accidents: Accidents) -> int | None:
    """The nearest segment with an accident that acts on this report."""
    step = 1 if report.dir == spec.EAST else -1
    for seg in (report.seg + step * number for number in range(AHEAD)):
        first, last = accidents.get((report.xway, report.dir, seg), (math.inf, 0))
        if first <= report.minute <= last:
            return seg
    return None


def balance(second: int, charges: list[tuple[int, int]]) -> Balance:
    """The sum now, or the one before the last charge; as of now, of 30 s ago, or of any moment between."""
    paid = [toll for at, toll in charges if at <= second]
    first = second - AGE_S if paid else 0
    return Balance(between=(first, second), sums=frozenset({sum(paid), sum(paid[:-1])}))
