"""Answers that only a lenient reading of the specification allows, and others that come near but are just wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from polling_baseline import spec
from tests import traces
from tests.support.one_dataset import ID_AT, Line, Road

UNUSED = spec.UNUSED


@dataclass(frozen=True, slots=True)
class Reading:
    """A road, one of its right answers, and what a system says instead."""

    name: str
    road: Road
    right: Line
    said: tuple[int | str, ...]
    accepted: bool

    def answers(self, numbered: list[Line]) -> list[tuple[int | str, ...]]:
        """All that the system says, with the vehicle and query numbers that the road's answers have in a data set."""
        at, id_at = self.road.answers.index(self.right), ID_AT[self.right[0]]
        said = (*self.said[:id_at], numbered[at][id_at], *self.said[id_at + 1 :])
        return [*numbered[:at], said, *numbered[at + 1 :]]


def trace_road(name: str) -> Road:
    trace = traces.load(name)
    return Road(trace.lines, trace.toll_history, trace.segment_history, trace.expected)


def readings() -> Iterator[Reading]:
    balance, alerts, no_data = (trace_road(name) for name in ("balance_times", "two_accidents", "no_data"))
    east, long = trace_road("travel_east"), long_journey()
    asked_late = (2, 10799, 10799, 8, 2)
    for name, road, right, said, accepted in [
        ("balance as of the last assessment", balance, asked_late, (2, 10799, 90, 8, 2), True),
        ("balance as of before the last assessment", balance, asked_late, (2, 10799, 89, 8, 0), False),
        ("balance as of no assessment", balance, asked_late, (2, 10799, 91, 8, 2), False),
        ("the farther accident", alerts, (1, 120, 101, 10), (1, 120, 101, 12), True),
        ("the farther accident, west", alerts, (1, 120, 108, 30), (1, 120, 108, 28), True),
        ("an accident that is behind", alerts, (1, 120, 104, 12), (1, 120, 104, 10), False),
        ("no data as 0", no_data, (0, 4, 360, -1, 0), (0, 4, 360, 0, 0), True),
        ("no data as nothing", no_data, (0, 4, 360, -1, 0), (0, 4, 360, "", 0), True),
        ("data as nothing", no_data, (0, 2, 359, 30, 0), (0, 2, 359, "", 0), False),
        ("no data, but a toll", no_data, (0, 4, 360, -1, 0), (0, 4, 360, 0, 2), False),
        ("a second more", east, (4, 7, 1, 270, 200), (4, 7, 1, 271, 200), True),
        ("two seconds more", east, (4, 7, 1, 270, 200), (4, 7, 1, 272, 200), False),
        ("two seconds less of a thousand", long, (4, 7, 1, 1000, 2000), (4, 7, 1, 998, 2000), True),
        ("three seconds less of a thousand", long, (4, 7, 1, 1000, 2000), (4, 7, 1, 997, 2000), False),
        ("a toll of one more per segment", long, (4, 7, 1, 1000, 2000), (4, 7, 1, 1000, 2010), True),
        ("a toll of more than that", long, (4, 7, 1, 1000, 2000), (4, 7, 1, 1000, 2011), False),
        ("minutes that nobody declared", east, (4, 7, 1, 270, 200), (4, 7, 1, 5, 200), False),
    ]:
        yield Reading(name, road, right, said, accepted)


def minutes() -> Iterator[Reading]:
    """Travel times in minutes, as declared; 270 s are four minutes or five."""
    east = trace_road("travel_east")
    for said, accepted in ((4, True), (5, True), (3, False), (6, False)):
        yield Reading(f"270 s as {said} minutes", east, (4, 7, 1, 270, 200), (4, 7, 1, said, 200), accepted)


def long_journey() -> Road:
    """Ten segments of 100 s and a toll of 200 each."""
    history = [(7, minute, 0, spec.EAST, seg, 36, 60, 0) for minute in range(100, 120) for seg in range(10)]
    request = (4, 7, 1, UNUSED, 0, *[UNUSED] * 4, 1, 0, 10, 1, 100, UNUSED)
    return Road([request], {}, history, [(4, 7, 1, 1000, 2000)])


def cleared_road() -> Road:
    """The trace accident_timing's accident in segment 10, of minutes 2 to 4, and a crowd in segment 8 in minute 4.

    Car 15 enters segment 8 in minute 5 and 9 in minute 6: it is alerted and pays nothing.  Where the accident acts a
    minute less it is not alerted and pays 200.
    """
    report = trace_road("accident_timing").lines
    standing = [line for line in report if line[2] in (1, 2)]
    crowd = [
        (0, 180 + number % 29, 100 + number, 20, 0, spec.EXIT_LANE, spec.EAST, 8, 8 * spec.SEGMENT_FT, *[UNUSED] * 6)
        for number in range(60)
    ]
    car = [
        (0, second, 15, 20, 0, 1, spec.EAST, seg, seg * spec.SEGMENT_FT, *[UNUSED] * 6)
        for second, seg in ((299, 8), (329, 9))
    ]
    asks = (2, 340, 15, *[UNUSED] * 6, 1, *[UNUSED] * 5)
    answers = [
        (0, 1, 0, -1, 0),
        (0, 2, 5, -1, 0),
        (0, 15, 299, 20, 0),
        (1, 299, 15, 10),
        (0, 15, 329, -1, 0),
        (2, 340, 340, 1, 0),
    ]
    return Road(sorted([*standing, *crowd, *car, asks], key=lambda line: line[1]), {}, [], answers)


def cleared_early(answers: list[Line], tolls: bool, alerts: bool) -> list[Line]:
    """What a system says that takes the accident of `cleared_road` as over a minute earlier, for one or for both."""
    toll, balance = answers[2], answers[5]
    early = {toll: (*toll[:4], 200), balance: (*balance[:4], 200)} if tolls else {}
    return [early.get(answer, answer) for answer in answers if not (alerts and answer[0] == 1)]
