"""Guesses at the cause of a fault: each is a check that can be wrong.

A guess says what would have led to the answer that came; that the system does so is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from driver.validate.inputs import Report
from driver.validate.odd_lines import SECOND_US, Line
from driver.validate.reference.accidents import segments_ahead
from driver.validate.reference.right_answers import ACCIDENT, BALANCE, EXPENDITURE, TOLL, TRAVEL_TIME, Conditions
from driver.validate.reference.statistics import Averages
from polling_baseline import spec

MOST_GUESSES = 2


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What holds where a report came from, in its minute or one beside it."""

    place: int
    minute: int
    conditions: Conditions
    averages: Averages
    # How far ahead accidents are by the other reading of their end.
    early: npt.NDArray[np.uint8]

    @property
    def at(self) -> tuple[int, int]:
        return self.place - self.averages.first_place, self.minute

    @property
    def cars(self) -> int:
        """Those of the minute before."""
        return int(self.conditions.statistics.cars[self.at])

    @property
    def cars_now(self) -> int:
        return int(self.averages.cars[self.at])

    @property
    def lav(self) -> int:
        return int(self.conditions.statistics.lav[self.at])

    @property
    def usual_toll(self) -> int:
        return int(self.conditions.statistics.toll[self.at])

    @property
    def toll(self) -> int:
        return 0 if self.ahead else self.usual_toll

    @property
    def ahead(self) -> list[int]:
        return segments_ahead(self.place, int(self.conditions.ahead[self.at]))

    @property
    def ahead_early(self) -> list[int]:
        return segments_ahead(self.place, int(self.early[self.at]))

    @property
    def speeds(self) -> dict[int, Fraction]:
        return self.averages.before(*self.at)

    def in_minute(self, later: int) -> Surroundings | None:
        minute = self.minute + later
        if not 0 <= minute < self.averages.cars.shape[1]:
            return None
        return Surroundings(self.place, minute, self.conditions, self.averages, self.early)


@dataclass(frozen=True, slots=True)
class Case:
    """One fault with all that is known of it."""

    kind: int
    fault: str
    second: int
    right: Sequence[tuple[int, int]]
    lines: Sequence[Line]
    # Of toll notifications and alerts: the report, the vehicle's reports before, and what holds there.
    report: Report | None = None
    earlier: Sequence[Report] = ()
    there: Surroundings | None = None
    # Of balances: what the vehicle was charged, and when.
    charges: Sequence[tuple[int, int]] = ()


Check = Callable[[Case], Iterator[str]]


def guesses(case: Case) -> list[str]:
    """The first few causes that would explain the fault."""
    causes: list[str] = []
    for check in CHECKS.get((case.kind, case.fault), (*OF_ANY_KIND.get(case.fault, ()),)):
        causes += [guess for guess in check(case) if guess not in causes]
    return causes[:MOST_GUESSES]


def _lav(case: Case) -> Iterator[str]:
    there, received = case.there, case.lines[0].value_1
    if there is None or received == there.lav:
        return
    speeds = list(there.speeds.values())
    if not speeds:
        if received == 0:
            yield "no data is said as LAV 0 instead of -1, which --lenient accepts"
        return
    mean = sum(speeds, Fraction()) / len(speeds)
    if received == floor(mean + Fraction(1, 2)):
        yield f"LAV {float(mean):.2f} was rounded to the nearest number, not cut off"
    elif received == ceil(mean):
        yield f"LAV {float(mean):.2f} was rounded up, not cut off"
    if received == sum(map(floor, speeds)) // len(speeds):
        yield "each minute's average was cut off before their mean was taken"
    if len(speeds) < spec.LAV_MINUTES and received == floor(sum(speeds, Fraction()) / spec.LAV_MINUTES):
        yield "a minute without cars was taken as 0 instead of being left out"
    place = there.place - there.averages.first_place
    cars = {minute: int(there.averages.cars[place, minute]) for minute in there.speeds}
    weighted = sum((speed * cars[minute] for minute, speed in there.speeds.items()), Fraction())
    if received == floor(weighted / sum(cars.values())):
        yield "the mean was taken over all cars of the minutes, not over the minutes"


def _other_minute(case: Case) -> Iterator[str]:
    if case.there is None:
        return
    for later, word in ((-1, "before"), (1, "after")):
        other = case.there.in_minute(later)
        if other and (case.lines[0].value_1, case.lines[0].value_2) == (other.lav, other.toll):
            yield f"it is what the minute {word} would get: off by one minute"


def _toll(case: Case) -> Iterator[str]:
    there, received = case.there, case.lines[0].value_2
    if there is None or received == there.toll:
        return
    if there.ahead and received == there.usual_toll:
        if there.ahead_early:
            yield "the accident ahead was not seen"
        else:
            yield "the accident was taken to end a minute earlier, which --lenient accepts if alerts do so as well"
        return
    if received == 0:
        yield from _accident_of_other_minute(there)
    crowd = there.cars - spec.FREE_CARS
    if received == 2 * crowd**2 and crowd > 0 and there.lav >= spec.FREE_FLOW_MPH:
        yield f"LAV {there.lav} is not below {spec.FREE_FLOW_MPH}, and was not looked at"
    for more in (1, -1):
        if received == 2 * (crowd + more) ** 2 and crowd + more > 0:
            yield f"{there.cars + more} cars were counted instead of {there.cars}"
    now = there.cars_now - spec.FREE_CARS
    if now > 0 and now != crowd and received == 2 * now**2:
        yield "the cars of the same minute were taken, not those of the minute before"
    if crowd > 0 and received == crowd**2:
        yield "the factor of 2 was left out"


def _accident_of_other_minute(there: Surroundings) -> Iterator[str]:
    before, after = there.in_minute(-1), there.in_minute(1)
    if not there.ahead and before and before.ahead:
        yield "an accident that no longer acts was taken to act a minute longer"
    if not there.ahead and after and after.ahead:
        yield "an accident was taken to act in the minute in which it began"


def _alert_missing(case: Case) -> Iterator[str]:
    if case.there and not case.there.ahead_early:
        yield "the accident was taken to end a minute earlier, which --lenient accepts if tolls do so as well"


def _alert_extra(case: Case) -> Iterator[str]:
    yield from _not_notified(case)
    if case.there and case.report and not case.there.ahead:
        yield from _accident_of_other_minute(case.there)


def _other_accident(case: Case) -> Iterator[str]:
    if case.there and case.lines[0].value_1 in case.there.ahead:
        yield "it is an accident ahead, but not the nearest; --lenient accepts it"


def _not_notified(case: Case) -> Iterator[str]:
    """Why a report gets no notification."""
    report = case.report
    if report is None:
        yield "it carries another Time or VID than its report"
        return
    before = next((other for other in case.earlier if other.second == report.second - spec.REPORT_PERIOD_S), None)
    if report.lane == spec.EXIT_LANE:
        yield "the report is on the exit lane, which gets no notification"
    elif before and before.seg == report.seg:
        yield f"the vehicle was already in segment {report.seg} at {before.second}: no new segment"


def _not_recognised(case: Case) -> Iterator[str]:
    """Why a crossing may have been missed."""
    report = case.report
    if report is None or any(other.second == report.second - spec.REPORT_PERIOD_S for other in case.earlier):
        return
    last = max((other for other in case.earlier if other.second < report.second), default=None)
    if last and last.seg == report.seg:
        yield (
            f"a second trip was taken for the first: the vehicle last reported at {last.second}, from the same "
            "segment, but not 30 s before"
        )


def _balance(case: Case) -> Iterator[str]:
    received = case.lines[0]
    result, balance = received.value_1, received.value_2
    if result > case.second:
        yield "ResultTime is after the request"
    elif result < case.second - spec.BALANCE_AGE_S:
        yield f"ResultTime is more than {spec.BALANCE_AGE_S} s before the request"
    sums = np.cumsum([0, *(toll for _, toll in case.charges)]).tolist()
    if balance in sums:
        at = sums.index(balance)
        since = case.charges[at - 1][0] if at else 0
        until = case.charges[at][0] - 1 if at < len(case.charges) else case.second
        if not since <= result <= until and since <= case.second:
            yield f"the balance {balance} held from {since} to {until}: its time is off, or an assessment was missed"
    elif balance - sums[-1] in {toll for _, toll in case.charges}:
        yield "a toll was charged twice, or before the vehicle left its segment"


def _expenditure(case: Case) -> Iterator[str]:
    if case.right and case.lines[0].value_1 == 0:
        yield "the history was not found, and taken as no expenditure"


def _travel_time(case: Case) -> Iterator[str]:
    if not case.right:
        return
    (right_s, right_toll), received = case.right[0], case.lines[0]
    unknown = spec.NO_TRAVEL_TIME
    if unknown in (right_s, received.value_1) and right_s != received.value_1:
        yield "whether the history has all segments of the journey was decided differently"
        return
    if received.value_1 != right_s and abs(60 * received.value_1 - right_s) < 60:
        yield "the travel time is in minutes; --lenient --travel-time minutes accepts it"
    elif 0 < abs(received.value_1 - right_s) <= 1 + right_s // 1000:
        yield "the travel time was rounded differently; --lenient accepts it"
    if received.value_1 == right_s and abs(received.value_2 - right_toll) == 1:
        yield "the toll was rounded differently"


def _early(case: Case) -> Iterator[str]:
    if any(line.response_us < 0 for line in case.lines):
        yield "Emit counts from another moment than the start of the run"


def _late(case: Case) -> Iterator[str]:
    emit_s = [line.response_us / SECOND_US + line.second for line in case.lines]
    if any(case.second <= moment / 1000 <= case.second + 60 for moment in emit_s if case.second >= 60):
        yield "Emit is in milliseconds instead of seconds"


def _duplicate(case: Case) -> Iterator[str]:
    answers = {(line.value_1, line.value_2) for line in case.lines}
    if len(case.lines) > 1:
        yield "the same answer was written again" if len(answers) == 1 else "the input was answered a second time"


WRONG = "wrong"
CHECKS: dict[tuple[int, str], Sequence[Check]] = {
    (TOLL, WRONG): (_lav, _other_minute, _toll),
    (TOLL, "missing"): (_not_recognised,),
    (TOLL, "extra"): (_not_notified,),
    (ACCIDENT, WRONG): (_other_accident,),
    (ACCIDENT, "missing"): (_alert_missing, _not_recognised),
    (ACCIDENT, "extra"): (_alert_extra,),
    (BALANCE, WRONG): (_balance,),
    (EXPENDITURE, WRONG): (_expenditure,),
    (TRAVEL_TIME, WRONG): (_travel_time,),
}
OF_ANY_KIND: dict[str, Sequence[Check]] = {"late": (_late,), "early": (_early,), "duplicate": (_duplicate,)}
