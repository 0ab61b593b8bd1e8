"""What may be wrong, by what the faults have in common.

A hint fits if its condition holds for the faults that a check has found: the first few of each kind.  The order
matters: the first that fits is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from driver.lesson.fault import ACCIDENT, BALANCE, TOLL, Fault
from polling_baseline import spec

Faults = Sequence[Fault]
Condition = Callable[[Fault], bool]
# Of a run that checks an exercise: it keeps that short, and lets a report come after a request of the same cycle.
CYCLE_S = 15


@dataclass(frozen=True, slots=True)
class Hint:
    """A sentence, and when it is worth saying."""

    fits: Callable[[Faults], bool]
    text: str


def rule_of_toll(fault: Fault) -> int:
    """Which rule a notification breaks: who gets one, its LAV, or its toll."""
    if fault.answer == BALANCE:
        return 10
    if fault.fault != "wrong" or not fault.received or not fault.expected:
        return 5
    return 3 if fault.received[0] != fault.expected[0] else 4


def _some(answer: str, kind: str, condition: Condition = lambda fault: True) -> Callable[[Faults], bool]:
    """Whether one of these faults is so."""
    return lambda faults: any(condition(one) for one in faults if (one.answer, one.fault) == (answer, kind))


def _each(answer: str, kind: str, condition: Condition) -> Callable[[Faults], bool]:
    """Whether there are such faults, and all of them are so."""

    def fits(faults: Faults) -> bool:
        chosen = [one for one in faults if (one.answer, one.fault) == (answer, kind)]
        return bool(chosen) and all(map(condition, chosen))

    return fits


def _excess(fault: Fault) -> int:
    """By how many cars the minute before was above the free number."""
    return int(fault.row["cars"] or 0) - spec.FREE_CARS


TOLL_HINTS = (
    Hint(
        _each(TOLL, "wrong", lambda one: one.received[1] == 0 < one.expected[1]),
        "Nobody pays. Where more than 50 cars were in the minute before, slower than 40, it costs 2 * (cars - 50)^2.",
    ),
    Hint(
        _some(TOLL, "wrong", lambda one: bool(one.row["accidents_ahead"]) and one.received[1] > 0),
        "Someone pays with an accident ahead. Nobody does: that is the third condition of rule 4.",
    ),
    Hint(
        _some(TOLL, "wrong", lambda one: one.expected[0] == spec.FREE_FLOW_MPH and one.received[1] > 0),
        "Someone pays at LAV 40. The toll wants a LAV below 40; at 40 the road flows.",
    ),
    Hint(
        _each(TOLL, "wrong", lambda one: 2 * one.received[1] == one.expected[1]),
        "All tolls are half of what they should be: what stands before the square?",
    ),
    Hint(
        _each(TOLL, "wrong", lambda one: one.received[1] in (2 * _excess(one), _excess(one))),
        "Tolls grow with the number of cars above 50, but not with its square.",
    ),
    Hint(
        lambda faults: True,
        "The first fault shows the cars of the minute before and the LAV: put them into the formula of rule 4.",
    ),
)


def _reports_of_each(fault: Fault) -> int:
    """The most that one vehicle had sent from a spot where the answer has an accident, before the alert's minute."""
    minute_start = fault.second - fault.second % spec.MINUTE_S
    return max(
        (
            sum(report.vehicle == vehicle and report.second < minute_start for report in reports)
            for reports in fault.standing
            for vehicle in {report.vehicle for report in reports}
        ),
        default=0,
    )


def _on_ramp(fault: Fault) -> bool:
    return bool(fault.standing) and all(reports[0].lane not in spec.TRAVEL_LANES for reports in fault.standing)


STOP_HINTS = (
    Hint(
        _some(ACCIDENT, "extra", lambda one: not one.standing),
        "You see accidents where no two cars ever reported from one spot. A car that only passes is not stopped.",
    ),
    Hint(
        _some(ACCIDENT, "extra", lambda one: _reports_of_each(one) < spec.STOP_REPORTS),
        "You see an accident where nobody reported four times in a row from one spot: look at stop_reports.",
    ),
    Hint(
        _some(ACCIDENT, "extra", _on_ramp),
        "You see an accident on a ramp. Only lanes 1 to 3 count: lr.travel_lanes() has them.",
    ),
    Hint(
        _some(ACCIDENT, "extra"),
        "An accident lasts too long. After its last report a car stays stopped for 29 seconds, and not for 30: "
        "the second that one second too many reaches into is another minute.",
    ),
    Hint(
        _some(ACCIDENT, "missing"),
        "Accidents are missing. A stop must last until the car's next report could come: 29 seconds after this one.",
    ),
    Hint(lambda faults: True, "Look who stood at the place of the first fault, for how long and on which lane."),
)


def _asked_before_charge(fault: Fault) -> bool:
    """Whether the vehicle reported after its request and in the same cycle; that ends with the minute at the latest."""
    poll = -(-fault.second // CYCLE_S) * CYCLE_S
    minute_end = spec.minute_of(fault.second) * spec.MINUTE_S - 1
    return any(report.second <= min(poll, minute_end) for report in fault.after)


BALANCE_HINTS = (
    Hint(
        _some(BALANCE, "missing"),
        "Some requests have no answer: their vehicle never reported, so an inner join loses them. Its balance is 0.",
    ),
    Hint(
        _some(BALANCE, "duplicate"),
        "Some requests have two answers: their vehicle is on two trips and has two rows. Add them up.",
    ),
    Hint(
        _each(BALANCE, "wrong", lambda one: one.received[0] == 0),
        "Nobody has paid. lr.vehicle says in `paid` what was charged to a vehicle.",
    ),
    Hint(
        _some(BALANCE, "wrong", lambda one: one.received[0] > one.expected[0] and not _asked_before_charge(one)),
        "Some balances hold a toll that was notified and not charged. It is charged when the trip reports from another "
        "segment (rule 9): leave `toll` out.",
    ),
    Hint(
        _some(BALANCE, "wrong", lambda one: one.received[0] > one.expected[0]),
        "Some balances hold a charge of the seconds after the request. The cycle has 15 seconds: if the vehicle's last "
        "report came after the request, what that one charged does not count yet.",
    ),
    Hint(lambda faults: True, "Compare the seconds of the reports in the first fault with the second of the request."),
)


def _distance(fault: Fault) -> int:
    """How many segments ahead the accident of a missing or extra alert is; below 0 if it is behind."""
    assert fault.report is not None
    ahead = (fault.expected or fault.received)[0] - fault.report.seg
    return -ahead if fault.report.dir == spec.WEST else ahead


ALERT_HINTS = (
    Hint(
        _some(ACCIDENT, "extra", lambda one: _distance(one) < 0),
        "You warn of accidents that lie behind. Eastbound cars drive to higher segments, westbound ones to lower: odd "
        "numbers of lr.road_id lead west.",
    ),
    Hint(
        _some(ACCIDENT, "extra"),
        "You warn too far: the accident's own segment and the four before it, so five in all.",
    ),
    Hint(
        _each(ACCIDENT, "missing", lambda one: _distance(one) == 0),
        "Who enters the segment of the accident itself is not warned: distance 0 counts.",
    ),
    Hint(
        _each(ACCIDENT, "missing", lambda one: _distance(one) == spec.ALERT_SEGMENTS),
        "Four segments upstream nobody is warned: the distances are 0 to 4.",
    ),
    Hint(
        _some(ACCIDENT, "wrong"),
        "Where two accidents are ahead, the alert names the nearest: DISTINCT ON (segment_id) with the right ORDER BY.",
    ),
    Hint(
        _some(ACCIDENT, "missing"),
        "Cars upstream of an accident are not warned: it warns its own segment and the four that come before it.",
    ),
    Hint(lambda faults: True, "Compare the segment of the report with that of the accident in the first fault."),
)


def _lav(fault: Fault) -> tuple[int, int]:
    """The LAV that was demanded, and the one answered."""
    return fault.expected[0], fault.received[0]


def _is_sum_by_five(fault: Fault) -> bool:
    """Whether the LAV answered is what a sum over one to four minutes gives if it is divided by five."""
    demanded, answered = _lav(fault)
    minutes = range(1, spec.LAV_MINUTES)
    return any(
        demanded * count // spec.LAV_MINUTES <= answered <= (demanded + 1) * count // spec.LAV_MINUTES
        for count in minutes
    )


LAV_HINTS = (
    Hint(
        _each(TOLL, "wrong", lambda one: _lav(one)[1] == 0),
        "All cars stand: sum the averages of each segment and divide by their number.",
    ),
    Hint(
        _each(TOLL, "wrong", _is_sum_by_five),
        "Some LAVs are far too low: divide by the number of minutes that have data, and not by five. An empty minute "
        "is left out.",
    ),
    Hint(
        _each(TOLL, "wrong", lambda one: _lav(one)[1] == _lav(one)[0] - 1),
        "Some LAVs are one too low: round down once, at the end, and not the average of each minute.",
    ),
    Hint(
        _some(TOLL, "wrong", lambda one: _lav(one)[1] != _lav(one)[0]),
        "LAV is the mean of the minutes' averages: a minute with many cars counts as much as one with few.",
    ),
    Hint(lambda faults: True, "Each segment must come once, in the order of `cells`, with a whole number."),
)


def _begins_trip(fault: Fault) -> bool:
    """Whether the report that caused the answer begins a trip of a vehicle that was seen before."""
    seconds = {report.second for report in fault.before}
    return len(seconds) > 1 and fault.second - spec.REPORT_PERIOD_S not in seconds


PROGRAM_HINTS = (
    Hint(
        _some(TOLL, "extra", lambda one: bool(one.input) and one.input[5] == spec.EXIT_LANE),
        "You notify cars on the exit lane. Who enters a segment on lane 4 is told nothing, then or later (rule 5).",
    ),
    Hint(
        _some(TOLL, "missing", _begins_trip),
        "Cars that were silent for more than 30 s begin a new trip, and enter their segment anew, also the same one "
        "(rules 1 and 5).",
    ),
    Hint(
        _some(TOLL, "extra"),
        "You notify cars that entered nothing: the report before, 30 s ago, was from the same segment.",
    ),
    Hint(
        _some(TOLL, "missing"),
        "Notifications are missing: every report that is the first of its trip, or from another segment than the one "
        "30 s before, causes one, also if it costs nothing.",
    ),
    Hint(
        _some(TOLL, "wrong", lambda one: one.received[0] != one.expected[0] and one.expected[0] == spec.NO_LAV),
        "Some LAVs are there too early: they rest on the minutes before that of the report, and not on its own. "
        "Without any data LAV is -1.",
    ),
    Hint(
        _some(TOLL, "wrong", lambda one: one.received[0] != one.expected[0]),
        "Some LAVs are wrong: average each car first, then the cars of a minute, then those of the five minutes before "
        "that have data; round down at the end (rules 2 and 3).",
    ),
    Hint(
        lambda faults: True,
        "Tolls are wrong where LAV is right: rule 4 takes the cars of the minute before, each counted once.",
    ),
)
