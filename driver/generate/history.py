"""Both histories, drawn from (seed, expressway, day): the same rows whatever the number of expressways, days or tasks.

Days of the week are the specification's: today is 1.  We call 1 and 7 the weekend, Sunday and Saturday.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from driver.dataset.folder import SEGMENT_SCHEMA, TOLL_SCHEMA, segment_path, toll_path, write_columns
from driver.progress import Advance
from driver.spark.units import for_each, step
from polling_baseline import spec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRESS = ".progress"
# What a random stream is for; a part of its seed.
TOLLS, ROADS, DAYS = range(3)
WEEKEND = (1, 7)

# TollHistory: most days bring no toll or a small one, some a large one.
FREE_SHARE = 0.4
MEDIAN_TOLL = 60
SPREAD = 1.3
ELSEWHERE = 0.1

# SegmentHistory: hour, hours wide, cars in the middle of the road, and by how much the morning's direction has more.
WEEKDAY_RUSH = ((8.0, 1.4, 110, 0.25), (13.0, 3.0, 45, 0.0), (17.5, 1.8, 120, -0.25))
WEEKEND_RUSH = ((14.0, 3.5, 75, 0.0), (20.0, 1.5, 30, -0.1))
NIGHT_CARS = 4
MIDDLE_SEGMENT, WIDE_SEGMENTS = 50, 28
# The speed of an empty road, and the cars that halve it.
FREE_MPH, HALVING_CARS = 64, 90


@dataclass(frozen=True, slots=True)
class Unit:
    """One file: the days of one week, of an expressway or of its vehicles (first number and count of each block)."""

    folder: Path
    seed: int
    xway: int
    days: range
    vehicles: Sequence[tuple[int, int]] = ()
    dirs: int = 0

    @property
    def week(self) -> int:
        return self.days.start // spec.WEEK_DAYS

    @property
    def rows(self) -> int:
        per_day = spec.DAY_MINUTES * spec.SEGMENTS * self.dirs or sum(count for _, count in self.vehicles)
        return len(self.days) * per_day

    def rng(self, purpose: int, *more: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, self.xway, purpose, *more])


def generate_history(
    spark: SparkSession,
    folder: Path,
    seed: int,
    xways: float,
    vehicles: Mapping[int, Sequence[tuple[int, int]]],
    days: int,
    advance: Advance,
) -> dict[str, int]:
    """Write the history files of a data set, and count their rows; `advance` hears of each file's days."""
    weeks = [range(first, min(first + spec.WEEK_DAYS, days + 1)) for first in range(1, days + 1, spec.WEEK_DAYS)]
    segment = [
        Unit(folder, seed, xway, week, dirs=2 if xway + 1 <= xways else 1)
        for xway in range(math.ceil(xways))
        for week in weeks
    ]
    toll = [Unit(folder, seed, xway, week, vehicles=blocks) for xway, blocks in vehicles.items() for week in weeks]
    for_each(spark, segment + toll, write_unit, folder / PROGRESS, advance)
    return {"toll_history": sum(unit.rows for unit in toll), "segment_history": sum(unit.rows for unit in segment)}


def write_unit(unit: Unit, progress_path: Path) -> None:
    draw, schema, path = (
        (_segment_day, SEGMENT_SCHEMA, segment_path) if unit.dirs else (_toll_day, TOLL_SCHEMA, toll_path)
    )
    columns: list[list[np.ndarray]] = []
    for day in unit.days:
        columns.append(draw(unit, day))
        step(progress_path, 1)
    write_columns(
        path(unit.folder, unit.xway, unit.week), schema, [np.concatenate(parts) for parts in zip(*columns, strict=True)]
    )


def _toll_day(unit: Unit, day: int) -> list[np.ndarray]:
    """What each vehicle spent on one day, on its own expressway or, now and then, on one with a lower number."""
    rng = unit.rng(TOLLS, day)
    vehicle_id = np.concatenate([np.arange(first, first + count, dtype=np.int32) for first, count in unit.vehicles])
    xway = np.full(len(vehicle_id), unit.xway, np.int16)
    if unit.xway:
        away = np.flatnonzero(rng.random(len(xway), np.float32) < ELSEWHERE)
        xway[away] = rng.integers(unit.xway, size=len(away))
    tolls = _toll_quantiles()[rng.integers(2**16, size=len(vehicle_id), dtype=np.uint16)]
    return [vehicle_id, np.full(len(vehicle_id), day, np.int8), xway, tolls]


@cache
def _toll_quantiles() -> np.ndarray:
    """A day's tolls, from the least to the most; a table, so that no processor rounds them differently."""
    normal = NormalDist(math.log(MEDIAN_TOLL), SPREAD)
    free = int(FREE_SHARE * 2**16)
    paying = [round(math.exp(normal.inv_cdf((rank + 0.5) / (2**16 - free)))) for rank in range(2**16 - free)]
    return np.array([0] * free + paying, np.int32)


def _segment_day(unit: Unit, day: int) -> list[np.ndarray]:
    """Speed and cars of one day; the speed falls as the cars get more, both with noise."""
    shape = (spec.DAY_MINUTES, unit.dirs, spec.SEGMENTS)
    # An expressway is busier than another, a day busier than the next; each cell varies by a quarter.
    level = unit.rng(ROADS).uniform(0.8, 1.2) * unit.rng(DAYS, day).uniform(0.9, 1.1)
    usual = _usual_cars(spec.day_of_week(day) in WEEKEND)[:, : unit.dirs]
    noise = np.frombuffer(unit.rng(DAYS, day, 1).bytes(2 * spec.DAY_MINUTES * 2 * spec.SEGMENTS), np.uint8)
    cars_noise, lav_noise = noise.reshape(2, spec.DAY_MINUTES, 2, spec.SEGMENTS)[:, :, : unit.dirs]
    cars = (usual * (level / 256) * (192 + (cars_noise >> 1))).astype(np.int32)
    lav = _usual_mph()[np.minimum(cars, len(_usual_mph()) - 1)] + (lav_noise >> 5)
    toll = np.where((lav < spec.FREE_FLOW_MPH) & (cars > spec.FREE_CARS), 2 * (cars - spec.FREE_CARS) ** 2, 0)
    minute, direction, segment = np.indices(shape, np.int16, sparse=True)
    columns = [np.int8(day), minute + np.int16(1), np.int16(unit.xway), direction, segment, lav, cars, toll]
    return [
        np.broadcast_to(column, shape).astype(kind.to_pandas_dtype()).ravel()
        for column, kind in zip(columns, SEGMENT_SCHEMA.types, strict=True)
    ]


@cache
def _usual_cars(weekend: bool) -> np.ndarray:
    """Cars by minute, direction and segment."""
    hour = np.arange(spec.DAY_MINUTES)[:, None, None] / 60
    along = np.exp(-(((np.arange(spec.SEGMENTS) - MIDDLE_SEGMENT) / WIDE_SEGMENTS) ** 2))
    side = np.array([1.0, -1.0])[:, None]
    cars = np.full((spec.DAY_MINUTES, 2, spec.SEGMENTS), float(NIGHT_CARS))
    for centre, width, most, tilt in WEEKEND_RUSH if weekend else WEEKDAY_RUSH:
        cars += most * (1 + tilt * side) * np.exp(-(((hour - centre) / width) ** 2)) * along
    return cars


@cache
def _usual_mph() -> np.ndarray:
    """The least speed for a number of cars."""
    cars = np.arange(1000)
    return (FREE_MPH * HALVING_CARS**2 // (HALVING_CARS**2 + cars**2)).astype(np.int32)
