"""The right answers, by a naive and literal reading of the specification's rules 1 to 12.

Slow, exact and plain: dictionaries, loops and fractions.  It shares numbers with the systems under test and nothing
else.  An answer is an output line as a tuple of integers, without Emit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import NamedTuple

from polling_baseline import spec

TOLL, ALERT, BALANCE, EXPENDITURE, TRAVEL_TIME = range(5)  # the types of output lines

TollHistory = Mapping[tuple[int, int, int], int]  # (VID, Day, XWay) -> Tolls
SegmentHistory = Iterable[Sequence[int]]  # Day, Min, XWay, Dir, Seg, Lav, Cnt, Toll


class Report(NamedTuple):
    second: int
    vid: int
    speed: int
    xway: int
    lane: int
    dir: int
    seg: int
    position: int


class Admissible(NamedTuple):
    """All right answers to one balance request: the balance for each ResultTime that it may have."""

    second: int
    query_id: int
    balances: dict[int, int]


def answers(
    lines: Iterable[Sequence[int]], toll_history: TollHistory, segment_history: SegmentHistory
) -> list[tuple[int, ...]]:
    """All expected answers; the ResultTime of a balance is the second of its request."""
    lines = list(lines)
    road = Road(lines)
    found: list[tuple[int, ...]] = list(road.notifications())
    charged = road.assessments()
    history = by_weekday(segment_history)
    for kind, second, vid, _, xway, _, _, _, _, query_id, from_seg, to_seg, weekday, minute, day in lines:
        if kind == spec.BALANCE:
            found.append((BALANCE, second, second, query_id, balance(charged, vid, second)))
        elif kind == spec.EXPENDITURE:
            found.append((EXPENDITURE, second, query_id, toll_history.get((vid, day, xway), 0)))
        elif kind == spec.TRAVEL_TIME:
            estimate = travel(history, xway, from_seg, to_seg, weekday, minute)
            found.append((TRAVEL_TIME, second, query_id, *estimate))
    return found


def admissible_balances(lines: Iterable[Sequence[int]]) -> list[Admissible]:
    """Rule 10: one for each balance request, in the order of the requests; a ResultTime may lie before the start."""
    lines = list(lines)
    charged = Road(lines).assessments()
    return [
        Admissible(
            line[1],
            line[9],
            {tau: balance(charged, line[2], tau) for tau in range(line[1] - spec.BALANCE_AGE_S, line[1] + 1)},
        )
        for line in lines
        if line[0] == spec.BALANCE
    ]


def balance(charged: Mapping[int, list[tuple[int, int]]], vid: int, tau: int) -> int:
    return sum(toll for second, toll in charged.get(vid, ()) if second <= tau)


class Road:
    """The reports of a run, and what rules 1 to 9 say of them."""

    def __init__(self, lines: Iterable[Sequence[int]]) -> None:
        self.reports = [Report(*line[1:9]) for line in lines if line[0] == spec.REPORT]
        self.at = {(report.vid, report.second): report for report in self.reports}
        self.speeds = self._speeds()
        self.average = {  # Avg_s: of the vehicles' averages, not of the reports
            place: mean([mean(speeds) for speeds in vehicles.values()]) for place, vehicles in self.speeds.items()
        }
        self.accidents = self._accidents()

    def previous(self, report: Report) -> Report | None:
        """Rule 1: the report before this one in its trip; none if it is the trip's first."""
        return self.at.get((report.vid, report.second - spec.REPORT_PERIOD_S))

    def following(self, report: Report) -> Report | None:
        return self.at.get((report.vid, report.second + spec.REPORT_PERIOD_S))

    def _speeds(self) -> dict[tuple[int, int, int, int], dict[int, list[int]]]:
        """Rule 2: for each minute, expressway, segment and direction the speeds that each vehicle reported."""
        speeds: dict[tuple[int, int, int, int], dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for report in self.reports:
            place = (minute_of(report.second), report.xway, report.seg, report.dir)
            speeds[place][report.vid].append(report.speed)
        return {place: dict(vehicles) for place, vehicles in speeds.items()}

    def cars(self, minute: int, xway: int, seg: int, dir: int) -> int:
        return len(self.speeds.get((minute, xway, seg, dir), {}))

    def lav(self, minute: int, xway: int, seg: int, dir: int) -> int:
        """Rule 3."""
        window = [(earlier, xway, seg, dir) for earlier in range(minute - spec.LAV_MINUTES, minute)]
        averages = [self.average[place] for place in window if place in self.average]
        return floor(mean(averages)) if averages else spec.NO_LAV

    def toll(self, report: Report) -> int:
        """Rule 4, as it is when the report is made."""
        minute = minute_of(report.second)
        place = (report.xway, report.seg, report.dir)
        if self.accident_ahead(report) is not None:
            return 0
        return int(toll_formula(Fraction(self.lav(minute, *place)), Fraction(self.cars(minute - 1, *place))))

    def enters(self, report: Report) -> bool:
        """Rule 5: is the report the first of its trip, or from another segment than the one before?"""
        previous = self.previous(report)
        return previous is None or previous.seg != report.seg

    def is_notified(self, report: Report) -> bool:
        return self.enters(report) and report.lane != spec.EXIT_LANE

    def notifications(self) -> Iterator[tuple[int, ...]]:
        """Rules 5 and 8."""
        for report in self.reports:
            if not self.is_notified(report):
                continue
            lav = self.lav(minute_of(report.second), report.xway, report.seg, report.dir)
            yield (TOLL, report.vid, report.second, lav, self.toll(report))
            accident = self.accident_ahead(report)
            if accident is not None:
                yield (ALERT, report.second, report.vid, accident)

    def is_stop(self, report: Report) -> bool:
        """Rule 6: is the report the fourth or a later one of its trip from the same place?"""
        earlier: Report | None = report
        for _ in range(spec.STOP_REPORTS - 1):
            earlier = self.previous(earlier) if earlier else None
            if earlier is None or spot(earlier) != spot(report):
                return False
        return True

    def stopped_seconds(self, report: Report) -> Iterator[int]:
        """The seconds at which its vehicle is stopped because of this report.

        They end when the vehicle reports again, in whichever trip; that report then speaks for itself.
        """
        for second in range(report.second, report.second + spec.REPORT_PERIOD_S):
            if second > report.second and (report.vid, second) in self.at:
                return
            yield second

    def _accidents(self) -> set[tuple[int, int, int, int]]:
        """Rule 6: Acc_in_Seg as (minute, expressway, segment, direction)."""
        stopped = defaultdict(set)
        for report in self.reports:
            if report.lane in spec.TRAVEL_LANES and self.is_stop(report):
                for second in self.stopped_seconds(report):
                    stopped[second, spot(report)].add(report.vid)
        return {
            (minute_of(second), xway, position // spec.SEGMENT_FT, dir)
            for (second, (xway, _, position, dir)), vehicles in stopped.items()
            if len(vehicles) >= spec.ACCIDENT_VEHICLES
        }

    def accident_ahead(self, report: Report) -> int | None:
        """Rule 7: the segment of the nearest accident; none if there is no accident ahead."""
        step = 1 if report.dir == spec.EAST else -1
        for distance in range(spec.ALERT_SEGMENTS + 1):
            seg = min(max(report.seg + step * distance, 0), spec.SEGMENTS - 1)
            if (minute_of(report.second) - 1, report.xway, seg, report.dir) in self.accidents:
                return seg
        return None

    def assessments(self) -> dict[int, list[tuple[int, int]]]:
        """Rule 9: for each vehicle the (second, toll) of what it was charged."""
        charged = defaultdict(list)
        for report in self.reports:
            if not self.is_notified(report):
                continue
            later = self.following(report)
            while later is not None and later.seg == report.seg:
                later = self.following(later)
            if later is not None:
                charged[report.vid].append((later.second, self.toll(report)))
        return dict(charged)


def minute_of(second: int) -> int:
    return second // spec.MINUTE_S + 1


def spot(report: Report) -> tuple[int, int, int, int]:
    return report.xway, report.lane, report.position, report.dir


def mean(values: Sequence[int | Fraction]) -> Fraction:
    return Fraction(sum(values)) / len(values)


def rounded(value: Fraction) -> int:
    """To the nearest integer, halves up."""
    return floor(value + Fraction(1, 2))


def toll_formula(lav: Fraction, cars: Fraction) -> Fraction:
    if lav < spec.FREE_FLOW_MPH and cars > spec.FREE_CARS:
        return 2 * (cars - spec.FREE_CARS) ** 2
    return Fraction(0)


WeekdayHistory = Mapping[tuple[int, int, int, int, int], tuple[Fraction, Fraction]]


def by_weekday(segment_history: SegmentHistory) -> WeekdayHistory:
    """Mean Lav and mean Cnt by day of week, minute, expressway, direction and segment."""
    rows = defaultdict(list)
    for day, minute, xway, dir, seg, lav, cars, _ in segment_history:
        weekday = (0 - day) % spec.WEEK_DAYS + 1
        rows[weekday, minute, xway, dir, seg].append((lav, cars))
    return {key: (mean([lav for lav, _ in found]), mean([cars for _, cars in found])) for key, found in rows.items()}


def travel(
    history: WeekdayHistory, xway: int, from_seg: int, to_seg: int, weekday: int, minute: int
) -> tuple[int, int]:
    """Rule 12: the seconds and the toll of a journey."""
    dir = spec.EAST if from_seg < to_seg else spec.WEST
    y, minutes, tolls = Fraction(minute), Fraction(0), Fraction(0)
    for seg in range(from_seg, to_seg, 1 if dir == spec.EAST else -1):
        while floor(y) > spec.DAY_MINUTES:
            y -= spec.DAY_MINUTES
            weekday = weekday % spec.WEEK_DAYS + 1
        lav, cars = history.get((weekday, floor(y), xway, dir, seg), (Fraction(0), Fraction(0)))
        if lav == 0:
            return spec.NO_TRAVEL_TIME, spec.NO_TRAVEL_TIME
        tolls += toll_formula(lav, cars)
        minutes += 60 / lav
        y += 60 / lav
    return rounded(60 * minutes), rounded(tolls)
