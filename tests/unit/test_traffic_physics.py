"""The simulator against physics, on roads with traffic of our own making."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from driver.generate.traffic.drive import drive
from driver.generate.traffic.model import FT_PER_S_PER_MPH, Demand, Driving, Mishap
from driver.generate.traffic.road import Road, empty_road
from driver.generate.traffic.trips import Accidents, draw_trips
from polling_baseline import spec

DRIVING, MISHAP = Driving(), Mishap()
TRAVEL = np.array(spec.TRAVEL_LANES)
MILE = spec.SEGMENT_FT


def accidents_at(*rows: tuple[int, int, float, int]) -> Accidents:
    due, lane, at_ft, stop_s = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Accidents(
        np.array(due, np.int32), np.array(lane, np.int8), np.array(at_ft, float), np.array(stop_s, np.int32)
    )


def roads(entries_per_s: float, seconds: int, step: int, accidents: Accidents) -> Iterator[tuple[int, Road]]:
    """The road every `step` seconds; after half an hour hardly anybody enters any more."""
    demand = Demand(entry_s=(0, 1800, 1801), entries_per_s=(entries_per_s, entries_per_s, 4))
    trips = draw_trips(np.random.default_rng(1), demand, DRIVING)
    road = empty_road(trips, accidents)
    out = np.empty((5, 2 * len(trips.due)), np.int32)
    for second in range(0, seconds, step):
        drive(road, trips, accidents, DRIVING, MISHAP, 1, second, second + step, out)
        yield second + step, road


def test_no_vehicle_passes_through_another() -> None:
    hurt_so_far: set[int] = set()
    for _, road in roads(60, 900, 1, accidents_at((200, 2, 30.0 * MILE, 300), (250, 1, 20.0 * MILE, 300))):
        hurt_so_far.update(np.flatnonzero(road.hurt).tolist())
        for lane, count in enumerate(road.standing):
            row = road.order[lane, :count]
            assert (road.lane[row] == lane).all()
            gap_ft = -np.diff(road.at_ft[row])
            for place in np.flatnonzero(gap_ft < DRIVING.vehicle_ft - 1e-6):
                assert {row[place], row[place + 1]} <= hurt_so_far
                assert gap_ft[place] >= 0
    assert len(hurt_so_far) == 4
    assert road.standing.sum() > 10_000


def test_speed_falls_as_density_rises() -> None:
    *_, (_, road) = roads(50, 1200, 60, accidents_at())
    driving = np.isin(road.lane, TRAVEL)
    segment = (road.at_ft[driving] // MILE).astype(int)
    cars = np.bincount(segment, minlength=spec.SEGMENTS)
    mph = np.bincount(segment, road.speed_ft_s[driving], spec.SEGMENTS) / np.maximum(cars, 1)
    levels = [(1, 100), (100, 200), (200, 300), (300, 1000)]
    speeds = [mph[(cars >= low) & (cars < high)].mean() for low, high in levels]
    assert speeds == sorted(speeds, reverse=True)
    assert speeds[0] > 3 * speeds[-1]


@pytest.fixture(scope="module")
def jam() -> dict[int, int]:
    """How many vehicles crawl on the four miles before an accident that lasts from 1200 to 1800 s."""
    crawling = {}
    for second, road in roads(20, 3000, 60, accidents_at((1200, 2, 45.0 * MILE, 600))):
        here = np.isin(road.lane, TRAVEL) & (road.at_ft > 41 * MILE) & (road.at_ft < 45 * MILE)
        crawling[second] = int((here & (road.speed_ft_s < 20 * FT_PER_S_PER_MPH)).sum())
    return crawling


def test_a_jam_grows_behind_an_accident(jam) -> None:
    assert jam[1200] < jam[1500] < jam[1800]


def test_and_dissolves_after_it(jam) -> None:
    assert jam[3000] < jam[1800] / 3
