"""The road of an exercise: a few minutes, made from a seed, in which every rule is put to the test.

Convoys make tolls: a platoon drives a segment a minute, and the next platoon enters each segment a minute after it, so
it pays by the cars and speeds of the one before.  At some places cars stand: in accidents, on ramps, too shortly, or
until just before a minute ends; visitors drive past them.  No Spark is needed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from driver.dataset.folder import TrafficWriter, describe
from polling_baseline import spec
from polling_baseline.batch import INPUT_SCHEMA

MINUTES = 8
SECONDS = MINUTES * spec.MINUTE_S
PERIOD_S, MINUTE_S = spec.REPORT_PERIOD_S, spec.MINUTE_S
# Two reports in each segment, the last two seconds of a minute left out: nobody is in two segments in one minute.
PHASES = PERIOD_S - 2
# Visitors come from just beyond where they are warned, and drive on for as far.
VISIT_SEGMENTS = spec.ALERT_SEGMENTS + 1
UNKNOWN_VEHICLE = 900_000
Line = tuple[int, ...]
Speed = Callable[[], int]


@dataclass(slots=True)
class _Road:
    rng: random.Random
    reports: dict[tuple[int, int], Line] = field(default_factory=dict)
    requests: list[Line] = field(default_factory=list)
    last_vehicle: int = 0

    def vehicle(self) -> int:
        self.last_vehicle += self.rng.randint(1, 9)
        return self.last_vehicle

    def report(self, vehicle: int, second: int, speed: int, place: tuple[int, int, int, int]) -> None:
        """`place` is lane, direction, segment and position."""
        if 0 <= second < SECONDS:
            line = (spec.REPORT, second, vehicle, speed, 0, *place, *[spec.UNUSED] * 6)
            self.reports.setdefault((vehicle, second), line)

    def ask_balance(self, vehicle: int, second: int) -> None:
        if 0 <= second < SECONDS:
            unused = [spec.UNUSED]
            query = len(self.requests) + 1
            self.requests.append((spec.BALANCE, second, vehicle, *unused * 6, query, *unused * 5))

    def place_in(self, seg: int, direction: int, lane: int) -> tuple[int, int, int, int]:
        return lane, direction, seg, seg * spec.SEGMENT_FT + self.rng.randrange(spec.SEGMENT_FT)


def write_road(folder: Path, seed: int, accidents: bool = True) -> None:
    """Write the data set of an exercise into an empty folder; without `accidents`, nobody stands still."""
    road = _Road(random.Random(f"lesson {seed}"))
    rng = road.rng
    slow, slower = _speeds(rng, 27, 38), _speeds(rng, 15, 27)
    at_40, at_39 = (_speeds(rng, mph, mph) for mph in (spec.FREE_FLOW_MPH, spec.FREE_FLOW_MPH - 1))
    shift = rng.randrange(4)
    _convoy(road, spec.EAST, 10 + shift, [(70, slower), (52, slow), (56, slower)])
    _convoy(road, spec.WEST, 86 + shift, [(54, at_40), (60, at_39), (51, at_40)])
    _convoy(road, spec.EAST, 40 + shift, [(64, slow), (52, slower)])
    _strays(road)
    if accidents:
        _stand(road, spec.EAST, 47 + shift, spec.TRAVEL_LANES[1], rng.randrange(20), 10)
        _stand(road, spec.EAST, 45 + shift, spec.TRAVEL_LANES[0], 120 + rng.randrange(20), 8)
        _stand(road, spec.WEST, 20 + shift, spec.TRAVEL_LANES[2], rng.randrange(20), 11)
        _stand(road, spec.EAST, 61 + shift, spec.EXIT_LANE, rng.randrange(20), 12)
        _stand(road, spec.WEST, 40 + shift, spec.ENTRY_LANE, rng.randrange(20), 12)
        _stand(road, spec.EAST, 76 + shift, spec.TRAVEL_LANES[0], 100 + rng.randrange(20), 3)
        # The fourth and last report is 30 s before the end of a minute: the stop ends with that minute's last second.
        _stand(road, spec.EAST, 90 + shift, spec.TRAVEL_LANES[1], 2 * MINUTE_S, 4, apart=0)
    for _ in range(3):
        road.ask_balance(UNKNOWN_VEHICLE + road.vehicle(), rng.randrange(SECONDS))
    _write(folder, road, seed)


def _speeds(rng: random.Random, lowest: int, highest: int) -> Speed:
    return lambda: rng.randint(lowest, highest)


def _convoy(road: _Road, direction: int, first_seg: int, platoons: list[tuple[int, Speed]]) -> None:
    """Platoons that follow each other through the same segments, a minute apart: about so many cars, so fast."""
    rng, step = road.rng, 1 if direction == spec.EAST else -1
    for number, (cars, speed) in enumerate(platoons):
        for _ in range(cars + rng.randrange(4)):
            vehicle, start = road.vehicle(), number * MINUTE_S + rng.randrange(PHASES)
            lane = rng.choice(spec.TRAVEL_LANES)
            # Some leave early: onto the exit ramp, or without another word.
            driven = MINUTES - number if rng.random() < 0.9 else rng.randint(4, MINUTES - number)
            for minute in range(driven):
                seg = first_seg + step * minute
                for second in (start + minute * MINUTE_S, start + minute * MINUTE_S + PERIOD_S):
                    road.report(vehicle, second, speed(), road.place_in(seg, direction, lane))
                # Of a charge that comes a moment later, or has just come.
                if minute and rng.random() < 0.15:
                    road.ask_balance(vehicle, start + minute * MINUTE_S + rng.choice((-2, -1, 0, 1)))
            if driven < MINUTES - number and rng.random() < 0.5:
                leaving = road.place_in(first_seg + step * driven, direction, spec.EXIT_LANE)
                road.report(vehicle, start + driven * MINUTE_S, speed(), leaving)
            elif rng.random() < 0.1:
                _second_trip(road, vehicle, start + PERIOD_S // 2)


def _second_trip(road: _Road, vehicle: int, start: int) -> None:
    """Reports of the same vehicle in between, from elsewhere: a trip of its own (rule 1)."""
    for number in range(4):
        place = road.place_in(1 + number // 2, spec.WEST, spec.TRAVEL_LANES[0])
        road.report(vehicle, start + number * PERIOD_S, 55, place)


def _strays(road: _Road) -> None:
    """Single cars that are silent for a while and begin a new trip where they were, or go back, or leave."""
    rng = road.rng
    for _ in range(12):
        vehicle, second = road.vehicle(), rng.randrange(100)
        seg = rng.randrange(2, 8)
        for _ in range(rng.randint(5, 10)):
            road.report(
                vehicle, second, rng.randint(30, 70), road.place_in(seg, spec.EAST, rng.choice((0, 1, 2, 3, 4)))
            )
            second += PERIOD_S if rng.random() < 0.7 else 2 * PERIOD_S
            seg += rng.choice((-1, 0, 0, 1))


def _stand(road: _Road, direction: int, seg: int, lane: int, start: int, reports: int, apart: int = 15) -> None:
    """Two cars that stand at one spot for so many reports, and visitors that come past all the time."""
    rng, upstream = road.rng, -1 if direction == spec.EAST else 1
    spot = road.place_in(seg, direction, lane)
    for number in range(2):
        vehicle = road.vehicle()
        for report in range(reports):
            road.report(vehicle, start + number * apart + report * PERIOD_S, 0, spot)
    for second in range(0, SECONDS, PERIOD_S):
        vehicle, phase = road.vehicle(), rng.randrange(PERIOD_S)
        for driven in range(VISIT_SEGMENTS + 3):
            at = seg + upstream * (VISIT_SEGMENTS - driven)
            place = road.place_in(at, direction, rng.choice(spec.TRAVEL_LANES))
            road.report(vehicle, second + phase + driven * PERIOD_S, rng.randint(15, 38), place)


def _write(folder: Path, road: _Road, seed: int) -> None:
    rows = np.array([*road.reports.values(), *road.requests], np.int64)
    columns = [pa.array(rows[:, place], kind.type) for place, kind in enumerate(INPUT_SCHEMA)]
    table = pa.Table.from_arrays(columns, schema=INPUT_SCHEMA)
    with TrafficWriter(folder, 0) as writer:
        for minute in range(MINUTES):
            writer.write_minute(table.filter(pa.array(rows[:, 1] // MINUTE_S == minute)))
    counts = {
        "reports": len(road.reports),
        "balance": len(road.requests),
        "expenditure": 0,
        "travel_time": 0,
        "vehicles": len({vehicle for vehicle, _ in road.reports}),
        "toll_history": 0,
        "segment_history": 0,
        "rejects": 0,
    }
    describe(folder, xways=1.0, seconds=SECONDS, seed=seed, counts=counts, options={"command": "lesson"})
