"""The rules as the validator of 2004, written in Perl, applies them.

A vehicle is told the toll of a segment once in the whole run, and pays it when it is told of the next one.  An accident
is two vehicles at speed 0 in one place, and again 120 s later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from math import floor

from driver.validate.kits.answers import AcceptedAnswers, Balance, Key
from driver.validate.kits.road import Report, Request, RoadView, Segment
from polling_baseline import spec

LAV_MINUTES = 5
AHEAD = 5
STILL_THERE_S, BEGINS_S, TOGETHER_S = 120, 90, 30
YOUNG_S, OLD_S = 30, 60
Place = tuple[int, int, int, int]


def accepted_answers(road: RoadView) -> AcceptedAnswers:
    lavs, cars = statistics(road.reports)
    accidents = accident_minutes(road.standing)
    tolls: dict[Key, tuple[int, int]] = {}
    alerts: dict[Key, frozenset[int]] = {}
    tolls_by_vehicle: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for report in notifications(road.reports):
        segments = ahead(report, accidents)
        lav = lavs.get((report.segment, report.minute), spec.NO_LAV)
        crowd = cars.get((report.segment, report.minute - 1), 0)
        is_dear = lav < spec.FREE_FLOW_MPH and crowd > spec.FREE_CARS and not segments
        toll = 2 * (crowd - spec.FREE_CARS) ** 2 if is_dear else 0
        tolls[report.second, report.vehicle] = lav, toll
        tolls_by_vehicle[report.vehicle].append((report.second, toll))
        if segments:
            alerts[report.second, report.vehicle] = frozenset(segments)
    asked = [request for request in road.requests if request.kind == spec.BALANCE]
    balances = {(one.second, one.query): balance(one.second, tolls_by_vehicle.get(one.vehicle, [])) for one in asked}
    return AcceptedAnswers(tolls, alerts, balances, expenditures(road))


def notifications(reports: Iterable[Report]) -> Iterable[Report]:
    """The first report of a vehicle from a segment, in the whole run, on a lane that does not lead out."""
    seen: set[tuple[int, Segment]] = set()
    for report in reports:
        entered = report.vehicle, report.segment
        if report.lane != spec.EXIT_LANE and entered not in seen:
            seen.add(entered)
            yield report


def statistics(reports: Iterable[Report]) -> tuple[dict[tuple[Segment, int], int], dict[tuple[Segment, int], int]]:
    """LAV by segment and minute that it holds in, and cars by segment and minute."""
    speeds: dict[tuple[Segment, int], dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for report in reports:
        speeds[report.segment, report.minute][report.vehicle].append(report.speed)
    means = {
        key: sum(Fraction(sum(own), len(own)) for own in by_car.values()) / len(by_car)
        for key, by_car in speeds.items()
    }
    lavs = {}
    for segment, minute in {(segment, minute + n) for segment, minute in means for n in range(1, LAV_MINUTES + 1)}:
        known = [means[segment, m] for m in range(minute - LAV_MINUTES, minute) if (segment, m) in means]
        lavs[segment, minute] = floor(sum(known, Fraction(0)) / len(known))
    return lavs, {key: len(by_car) for key, by_car in speeds.items()}


def accident_minutes(standing: Iterable[Report]) -> dict[Segment, list[tuple[int, int]]]:
    """First and last minute in which each accident acts, by its segment; of the reports at speed 0."""
    at_place: dict[Place, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for report in standing:
        at_place[report.xway, report.dir, report.lane, report.position][report.vehicle].add(report.second)
    spans: dict[tuple[int, int, int], tuple[int, int]] = {}
    for (xway, dir, _, position), cars in at_place.items():
        # Each vehicle's reports that another one at the same place follows 120 s later.
        kept = {car: {t for t in seconds if t + STILL_THERE_S in seconds} for car, seconds in cars.items()}
        later = [
            second
            for car, seconds in kept.items()
            for second in seconds
            if any(0 <= second - other <= TOGETHER_S for one, its in kept.items() if one != car for other in its)
        ]
        if later:
            begins, ends = min(later) + BEGINS_S, max(later) + STILL_THERE_S
            before = spans.get((xway, dir, position), (begins, ends))
            spans[xway, dir, position] = min(begins, before[0]), max(ends, before[1])
    acts: dict[Segment, list[tuple[int, int]]] = defaultdict(list)
    for (xway, dir, position), (begins, ends) in spans.items():
        minutes = begins // spec.MINUTE_S + 2, ends // spec.MINUTE_S + 2
        acts[xway, dir, position // spec.SEGMENT_FT].append(minutes)
    return acts


def ahead(report: Report, accidents: dict[Segment, list[tuple[int, int]]]) -> list[int]:
    """The segments with an accident that acts on this report."""
    step = 1 if report.dir == spec.EAST else -1
    near = (report.seg + step * number for number in range(AHEAD))
    return [
        seg
        for seg in near
        if any(first <= report.minute <= last for first, last in accidents.get((report.xway, report.dir, seg), ()))
    ]


def balance(second: int, notified: list[tuple[int, int]]) -> Balance:
    """The pairs that are accepted at this second, by when the vehicle was told of which tolls."""
    times = [at for at, _ in notified if at <= second]
    if not times:
        return Balance(frozenset({(second, 0)}))
    recent = [at for at in times if at > second - OLD_S]
    chosen = {recent[0] if recent else times[-1]}
    if times[-1] == second:
        chosen.add(second)
    # The one before, unless that is the first of all.
    if times[-1] > second - YOUNG_S and len(times) > 2:
        chosen.add(times[-2])
    return Balance(frozenset((at, sum(toll for other, toll in notified if other < at)) for at in chosen))


def expenditures(road: RoadView) -> dict[Key, int]:
    """Only what the history has is answered."""
    asked: list[Request] = [request for request in road.requests if request.kind == spec.EXPENDITURE]
    known = [(one, road.tolls_of_history.get((one.vehicle, one.day, one.xway))) for one in asked]
    return {(one.second, one.query): tolls for one, tolls in known if tolls is not None}
