"""What a minute costs, place by place: made from the five minutes before, and read by every report of the minute."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from polling_baseline import spec
from polling_baseline.engines.structured_streaming.columns import Layout, join_parts, split_parts
from polling_baseline.engines.structured_streaming.places import DIRECTIONS
from polling_baseline.engines.structured_streaming.tally import Tally

PRICES = Layout(lav="i2", toll="i8", accident="i2")
NO_ACCIDENT = -1
# A mean closer than this to a whole number is one, or is looked at exactly.  Doubles are a thousand times as good.
CLOSE = 1e-10
# Fractions with denominators below this are further from whole numbers than that, or are whole numbers.
PLAIN_DENOMINATOR = 1e9


class TollTable:
    """LAV, toll and the nearest accident ahead of each place in one minute."""

    def __init__(self, data: bytes | None) -> None:
        self._prices = PRICES.unpack(data or PRICES.pack(_no_prices()))

    def at(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each place; one that has no statistics is like the last row, which stands for all of them."""
        rows = np.minimum(places, len(self._prices["lav"]) - 1)
        return self._prices["lav"][rows], self._prices["toll"][rows], self._prices["accident"][rows]


def toll_table(past: list[Tally], accidents: np.ndarray) -> bytes:
    """The table of the minute after the last of these five; `accidents` are the places that had one in the last."""
    places = max(int(accidents.max(initial=0)) + 1, *(len(tally.cars) for tally in past))
    past = [tally.widened(places) for tally in past]
    lav, cars = average_speeds(past), past[-1].cars
    ahead = nearest_accidents(len(cars), accidents)
    costs = (lav < spec.FREE_FLOW_MPH) & (cars > spec.FREE_CARS) & (ahead == NO_ACCIDENT)
    toll = np.where(costs, 2 * (cars.astype(np.int64) - spec.FREE_CARS) ** 2, 0)
    prices = {"lav": lav, "toll": toll, "accident": ahead}
    return PRICES.pack({name: np.concatenate([column, _no_prices()[name]]) for name, column in prices.items()})


def average_speeds(past: list[Tally]) -> np.ndarray:
    """Rule 3, exactly: in doubles wherever these cannot be wrong, and in fractions elsewhere."""
    places = len(past[-1].cars)
    total, denominator, minutes = np.zeros(places), np.ones(places), np.zeros(places, np.int64)
    doubtful = np.zeros(places, bool)
    for tally in past:
        full = tally.cars > 0
        total[full] += tally.speeds[full] / (2 * tally.cars[full])
        denominator[full] *= 2 * tally.cars[full]
        minutes += full
        doubtful[list(tally.fractions)] = True
    mean = total / np.maximum(minutes, 1)
    whole = np.rint(mean)
    close = np.abs(mean - whole) < CLOSE
    lav = np.where(close, whole, np.floor(mean)).astype(np.int64)
    doubtful |= close & (denominator * minutes >= PLAIN_DENOMINATOR)
    for place in np.flatnonzero(doubtful & (minutes > 0)).tolist():
        means = [speed for tally in past if (speed := tally.mean_speed(place)) is not None]
        lav[place] = sum(means, Fraction()) // len(means)
    lav[minutes == 0] = spec.NO_LAV
    return lav


def nearest_accidents(places: int, accidents: np.ndarray) -> np.ndarray:
    """Rule 7: for each place the segment of the nearest accident from there on downstream."""
    there = np.zeros(places, bool)
    there[accidents] = True
    ways = there.reshape(-1, DIRECTIONS, spec.SEGMENTS)
    ahead = np.full(ways.shape, NO_ACCIDENT, np.int64)
    segments = np.arange(spec.SEGMENTS)
    for distance in range(spec.ALERT_SEGMENTS, -1, -1):
        for way, step in ((spec.EAST, distance), (spec.WEST, -distance)):
            seen = np.clip(segments + step, 0, spec.SEGMENTS - 1)
            ahead[:, way] = np.where(ways[:, way][:, seen], seen, ahead[:, way])
    return ahead.reshape(-1)


def _no_prices() -> dict[str, np.ndarray]:
    return {"lav": np.array([spec.NO_LAV]), "toll": np.array([0]), "accident": np.array([NO_ACCIDENT])}


def pack_past(past: list[Tally]) -> bytes:
    return join_parts([tally.pack() for tally in past])


def unpack_past(data: bytes | None) -> list[Tally]:
    return [Tally.unpack(part) for part in split_parts(data)] if data else []
