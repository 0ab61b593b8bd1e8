"""One fault with its evidence: which reports there were, what was demanded, what was answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from driver.dataset.folder import Dataset, read_minutes
from polling_baseline import spec
from polling_baseline.wording import format_count

# So many reports of a vehicle are shown, those before the answer's second.
SHOWN = 5
TOLL, ACCIDENT, BALANCE = "toll", "accident", "balance"


@dataclass(frozen=True, slots=True)
class Report:
    """A position report, as far as a fault shows it."""

    second: int
    vehicle: int
    speed: int
    lane: int
    dir: int
    seg: int
    position: int


class Reports:
    """All reports of a small road."""

    def __init__(self, dataset: Dataset) -> None:
        tables = [table for path in dataset.traffic.values() for _, table in read_minutes(path)]
        rows = pa.concat_tables(tables).filter(pa.compute.field("kind") == spec.REPORT)
        names = ("second", "vehicle_id", "speed_mph", "lane", "dir", "seg", "position_ft")
        self.all = [Report(*row) for row in zip(*(rows[name].to_pylist() for name in names), strict=True)]

    def of(self, vehicle: int) -> list[Report]:
        return [report for report in self.all if report.vehicle == vehicle]

    def standing(self, seg: int, direction: int) -> list[list[Report]]:
        """Of each spot in a segment from which two vehicles have reported: these reports."""
        spots: dict[tuple[int, int], list[Report]] = {}
        for report in self.all:
            if (report.dir, report.position // spec.SEGMENT_FT) == (direction, seg):
                spots.setdefault((report.lane, report.position), []).append(report)
        return [reports for reports in spots.values() if len({report.vehicle for report in reports}) > 1]


@dataclass(frozen=True)
class Fault:
    """What `driver.validate.faults` says of one answer, and the reports that explain it."""

    row: Mapping[str, Any]
    reports: Reports

    @property
    def answer(self) -> str:
        return str(self.row["answer"])

    @property
    def fault(self) -> str:
        return str(self.row["fault"])

    @property
    def second(self) -> int:
        return int(self.row["time"])

    @cached_property
    def input(self) -> list[int]:
        """The line that caused the answer; empty if there is none."""
        return [int(field) for field in self.row["input"].split(",")] if self.row["input"] else []

    @property
    def vehicle(self) -> int | None:
        return self.input[2] if self.input else int(self.row["id"]) if self.answer != BALANCE else None

    @cached_property
    def report(self) -> Report | None:
        """The report that caused the answer, if it was one."""
        return next((report for report in self._own if report.second == self.second), None)

    @cached_property
    def expected(self) -> list[int]:
        """The numbers that were demanded: LAV and toll; the segment of the accident; the balance and its second."""
        return self._values("expected")

    @cached_property
    def received(self) -> list[int]:
        return self._values("received")

    @cached_property
    def _own(self) -> list[Report]:
        return [] if self.vehicle is None else self.reports.of(self.vehicle)

    @property
    def before(self) -> list[Report]:
        """The last reports of the vehicle, that of the answer's second included."""
        return [report for report in self._own if report.second <= self.second][-SHOWN:]

    @property
    def after(self) -> list[Report]:
        return [report for report in self._own if report.second > self.second]

    @cached_property
    def standing(self) -> list[list[Report]]:
        """Who stood where the answer, or the right one, has an accident."""
        [seg] = self.received or self.expected or [-1]
        return self.reports.standing(seg, self.report.dir) if self.report else []

    def _values(self, which: str) -> list[int]:
        text = str(self.row[which] or "").split(" | ")[0]
        if not text:
            return []
        if text.count(",") == 0:  # of a balance: `12 at ResultTime 40 to 100`
            words = text.split()
            return [int(words[0]), int(words[-1])]
        fields = text.split(",")
        places = {TOLL: (4, 5), ACCIDENT: (4,), BALANCE: (5, 3)}[self.answer]
        return [int(fields[place]) for place in places]

    def evidence(self, rule: int) -> list[str]:
        """Given these reports, rule N demands this, you answered that."""
        given = [_told(report) for report in self.before] or ["no report of this vehicle"]
        if self.answer != BALANCE and self.report:
            given.append(self._there())
        if self.answer == ACCIDENT:
            given += [_told_standing(reports) for reports in self.standing]
        if self.answer == BALANCE and self.input:
            given.append(f"second {self.second:3}   it asks for its balance")
            given += [f"{_told(report)}, after the request" for report in self.after[:1]]
        return [
            *_labelled("given", [f"vehicle {self.vehicle}", *given]),
            f"rule {rule:<7} demands {self._words(self.expected, self.row['expected'])}",
            f"you          answered {self._words(self.received, self.row['received'])}"
            + (", and more than once" if self.fault == "duplicate" else ""),
        ]

    def _there(self) -> str:
        lav = spec.NO_LAV if self.row["lav"] is None else self.row["lav"]
        ahead = self.row["accidents_ahead"]
        return f"there: {format_count(self.row['cars'] or 0, 'car')} in the minute before, LAV {lav}, " + (
            f"accident ahead in segment {ahead}" if ahead else "no accident ahead"
        )

    def _words(self, values: list[int], text: str | None) -> str:
        if not values:
            return "no answer"
        if self.answer == TOLL:
            return f"LAV {values[0]}, toll {values[1]}"
        if self.answer == ACCIDENT:
            return f"an alert for segment {values[0]}"
        if text and "ResultTime" in text:
            return f"a balance of {text.split(' | ')[0].replace('at ResultTime', 'as of second')}"
        return f"a balance of {values[0]} as of second {values[1]}"


def _told(report: Report) -> str:
    way = "west" if report.dir == spec.WEST else "east"
    return (
        f"second {report.second:3}   segment {report.seg:2} {way}, lane {report.lane}, position {report.position:6}, "
        f"{report.speed} mph"
    )


def _told_standing(reports: list[Report]) -> str:
    counts: dict[int, int] = {}
    for report in reports:
        counts[report.vehicle] = counts.get(report.vehicle, 0) + 1
    who = " and ".join(f"vehicle {vehicle} ({format_count(count, 'time')})" for vehicle, count in counts.items())
    first, last = reports[0], reports[-1]
    return (
        f"from segment {first.position // spec.SEGMENT_FT}, lane {first.lane}, position {first.position} reported "
        f"{who}, seconds {first.second} to {last.second}"
    )


def _labelled(label: str, lines: Iterable[str]) -> list[str]:
    return [f"{'' if number else label:<13}{line}" for number, line in enumerate(lines)]
