"""A report as one number: what is sorted, compared and moved twelve million times is kept as narrow as it can be.

Its highest bits are Time mod 30 and Time div 30.  So the reports of a vehicle in the order of their numbers are its
trips, one after the other: the report of 30 s earlier, if there is one, stands right before.
"""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import Column
from pyspark.sql import functions as F

from polling_baseline import spec

# The parts from the highest to the lowest, and how many bits each has: 62 together.
BITS = {
    "phase": 5,  # Time mod 30
    "period": 9,  # Time div 30
    "xway": 10,
    "dir": 1,
    "seg": 7,
    "lane": 3,
    "position_ft": 20,
    "speed_mph": 7,
}
_NAMES = list(BITS)
LOW = {name: sum(BITS[lower] for lower in _NAMES[number + 1 :]) for number, name in enumerate(_NAMES)}
# A place is XWay, Dir and Seg, a spot is where a vehicle stands: XWay, Dir, Lane and Pos.
PLACE, SPOT = ("xway", "dir", "seg"), ("xway", "dir", "lane", "position_ft")


def packed() -> Column:
    """The number of a row of input."""
    second = F.col("second")
    phase = (second % spec.REPORT_PERIOD_S).cast("long")
    period = ((second - phase) / spec.REPORT_PERIOD_S).cast("long")
    parts = {"phase": phase, "period": period, **{name: F.col(name).cast("long") for name in _NAMES[2:]}}
    report = F.lit(0).cast("long")
    for name, part in parts.items():
        report = report.bitwiseOR(F.shiftleft(part, LOW[name]))
    return report


def part(report: Column, name: str) -> Column:
    return F.shiftright(report, LOW[name]).bitwiseAND((1 << BITS[name]) - 1).cast("int")


def masked(report: Column, names: Collection[str]) -> Column:
    """These parts alone, each where it stands; 0 for the others."""
    return report.bitwiseAND(sum(((1 << BITS[name]) - 1) << LOW[name] for name in names))


def second_of(report: Column) -> Column:
    return part(report, "period") * spec.REPORT_PERIOD_S + part(report, "phase")


def slot_of(report: Column) -> Column:
    """Counts the periods of one phase; those of two phases are never one apart."""
    return F.shiftright(report, LOW["period"])


def place_of_report(report: Column) -> Column:
    bits = sum(BITS[name] for name in PLACE)
    return F.shiftright(report, LOW[PLACE[-1]]).bitwiseAND((1 << bits) - 1).cast("int")


def place_of(xway: Column, dir: Column, seg: Column) -> Column:
    return (xway.cast("int") * 2 + dir) * (1 << BITS["seg"]) + seg


def xway_at(place: Column) -> Column:
    return F.shiftright(place, BITS["dir"] + BITS["seg"])


def dir_at(place: Column) -> Column:
    return F.shiftright(place, BITS["seg"]).bitwiseAND(1)


def seg_at(place: Column) -> Column:
    return place.bitwiseAND((1 << BITS["seg"]) - 1)


def minute_of(second: Column) -> Column:
    return (F.floor(second / spec.MINUTE_S) + 1).cast("int")
