"""The answers from history: daily expenditure (rule 11) and travel time (rule 12).

Journeys are driven in doubles.  Where one comes so near to the edge of a minute, or of a rounding, that a double cannot
tell, it is driven again in fractions.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor

import numpy as np
import numpy.typing as npt

from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS, Columns
from polling_baseline.compiled import compiled
from polling_baseline.engines.aurora.linear_road.history import History, Integers, Sums, moment_of
from polling_baseline.engines.aurora.linear_road.quality import quality_of
from polling_baseline.engines.aurora.model.box import Filter, Map, Mask
from polling_baseline.engines.aurora.model.network import Network
from polling_baseline.engines.aurora.model.tables import TableRead

GROUP = "requests"
NEAR = 1e-6
# How a journey ended.
DRIVEN, UNKNOWN, UNSURE = 0, 1, 2
WEEK_DAYS, DAY_MINUTES, SEGMENTS, EAST, WEST = spec.WEEK_DAYS, spec.DAY_MINUTES, spec.SEGMENTS, spec.EAST, spec.WEST
FREE_CARS, FREE_FLOW_MPH = spec.FREE_CARS, spec.FREE_FLOW_MPH


@compiled
def drive(index, days, lavs, cars, from_seg, to_seg, weekday, minute):  # type: ignore[no-untyped-def]
    """Minutes, toll and how it ended."""
    way = EAST if from_seg < to_seg else WEST
    step = 1 if way == EAST else -1
    y, minutes, toll = float(minute - 1), 0.0, 0.0
    for seg in range(from_seg, to_seg, step):
        now = int(np.floor(y))
        day = (weekday - 1 + now // DAY_MINUTES) % WEEK_DAYS
        place = index[(way * WEEK_DAYS + day) * DAY_MINUTES + now % DAY_MINUTES]
        cell = place * SEGMENTS + seg
        if abs(y - np.rint(y)) < NEAR and seg != from_seg:
            return 0.0, 0.0, UNSURE
        if place < 0 or lavs[cell] == 0:
            return 0.0, 0.0, UNKNOWN
        crowd = float(cars[cell]) / days[cell] - FREE_CARS
        # Whole numbers: exact.
        if int(lavs[cell]) < FREE_FLOW_MPH * int(days[cell]) and int(cars[cell]) > FREE_CARS * int(days[cell]):
            toll += 2 * crowd * crowd
        minutes += 60.0 * days[cell] / lavs[cell]
        y = minute - 1 + minutes
    return minutes, toll, DRIVEN


@compiled
def drive_all(  # type: ignore[no-untyped-def]
    index, days, lavs, cars, from_segs, to_segs, weekdays, minutes, rows, travel_s, tolls, ends
):
    for row in rows:
        took, toll, end = drive(index, days, lavs, cars, from_segs[row], to_segs[row], weekdays[row], minutes[row])
        halves = took * 60 + 0.5, toll + 0.5
        if end == DRIVEN and (abs(halves[0] - np.rint(halves[0])) < NEAR or abs(halves[1] - np.rint(halves[1])) < NEAR):
            end = UNSURE
        travel_s[row] = np.int64(np.floor(halves[0]))
        tolls[row] = np.int64(np.floor(halves[1]))
        ends[row] = end


def drive_exactly(sums: Sums, from_seg: int, to_seg: int, weekday: int, minute: int) -> tuple[int, int] | None:
    """Seconds and toll of a journey; None if the history does not tell."""
    way = spec.EAST if from_seg < to_seg else spec.WEST
    minutes, toll = Fraction(0), Fraction(0)
    for seg in range(from_seg, to_seg, 1 if way == spec.EAST else -1):
        days_on, now = divmod(floor(minute - 1 + minutes), spec.DAY_MINUTES)
        day = (weekday - 1 + days_on) % spec.WEEK_DAYS
        place = int(sums["index"][moment_of(way, day, now)])
        days, lav, cars = (int(sums[name][place * spec.SEGMENTS + seg]) for name in ("days", "lav", "cars"))
        if place < 0 or lav == 0:
            return None
        crowd = Fraction(cars, days) - spec.FREE_CARS
        if Fraction(lav, days) < spec.FREE_FLOW_MPH and crowd > 0:
            toll += 2 * crowd * crowd
        minutes += Fraction(60 * days, lav)
    half = Fraction(1, 2)
    return floor(60 * minutes + half), floor(toll + half)


def journeys(history: History, columns: Columns) -> Columns:
    """Seconds and toll of each journey asked for."""
    names = ("from_seg", "to_seg", "day_of_week", "minute_of_day")
    asked = [columns[name].astype(np.int64) for name in names]
    rows = len(columns["second"])
    travel_s, tolls = (np.full(rows, spec.NO_TRAVEL_TIME, np.int64) for _ in range(2))
    for xway in np.unique(columns["xway"]).tolist():
        on_xway = np.flatnonzero(columns["xway"] == xway)
        if xway in history.sums:
            _on_one_xway(history.sums[xway], asked, on_xway, travel_s, tolls)
    nowhere = asked[0] == asked[1]
    travel_s[nowhere], tolls[nowhere] = 0, 0
    return {"travel_s": travel_s, "toll": tolls}


def _on_one_xway(
    sums: Sums,
    asked: list[npt.NDArray[np.int64]],
    rows: npt.NDArray[np.intp],
    travel_s: Integers,
    tolls: Integers,
) -> None:
    ends = np.zeros(len(travel_s), np.int8)
    drive_all(*(sums[name] for name in ("index", "days", "lav", "cars")), *asked, rows, travel_s, tolls, ends)
    for row in rows[ends[rows] != DRIVEN]:
        exact = drive_exactly(sums, *(int(column[row]) for column in asked)) if ends[row] == UNSURE else None
        travel_s[row], tolls[row] = exact or (spec.NO_TRAVEL_TIME, spec.NO_TRAVEL_TIME)


def build(network: Network, requests: str, history: History) -> None:
    """Both kinds of requests that history answers."""

    def tolls(columns: Columns) -> Columns:
        return {"tolls": history.tolls_of(columns["vehicle_id"], columns["day"], columns["xway"])}

    def travel(columns: Columns) -> Columns:
        return journeys(history, columns)

    for kind, number, table, read in (
        ("expenditure", spec.EXPENDITURE, "toll history", tolls),
        ("travel_time", spec.TRAVEL_TIME, "segment history", travel),
    ):
        words = kind.replace("_", " ")
        after = network.add(Filter(f"asks for {words}", _is(number)), requests, GROUP)
        after = network.add(TableRead(f"{words} in history", table, read), after, GROUP)
        after = network.add(Map(f"{words} answer", _project(kind)), after, GROUP)
        network.output(kind, after, quality_of(kind))


def _is(number: int) -> Callable[[Columns], Mask]:
    return lambda columns: np.asarray(columns["kind"] == number)


def _project(kind: str) -> Callable[[Columns], Columns]:
    return lambda columns: {name: columns[name] for name in ANSWER_KINDS[kind].columns}
