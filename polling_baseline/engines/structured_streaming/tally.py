"""Cars and speeds of a minute, place by place (rule 2): counted second by second, put right where that is not enough.

Nearly every vehicle reports twice a minute, 30 s apart, and both reports meet in the ring.  One that has two trips in
a minute does not meet itself there; it is found when the minute ends, among all vehicles of its shard, and counted
anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.engines.structured_streaming.columns import join_parts, split_parts
from polling_baseline.engines.structured_streaming.places import DIRECTIONS

EXPRESSWAY = DIRECTIONS * spec.SEGMENTS


@dataclass(frozen=True, slots=True)
class Tally:
    """Of each place how many cars there were, and twice the sum of their average speeds.

    Twice, because the average of two speeds is then a whole number.  What a vehicle with more reports than two adds
    may be none; such rests are `fractions`, by place.
    """

    cars: np.ndarray
    speeds: np.ndarray
    fractions: dict[int, Fraction] = field(default_factory=dict)

    @classmethod
    def empty(cls) -> Tally:
        return cls(np.zeros(EXPRESSWAY, np.int64), np.zeros(EXPRESSWAY, np.int64))

    def mean_speed(self, place: int) -> Fraction | None:
        cars = int(self.cars[place])
        return (int(self.speeds[place]) + self.fractions.get(place, Fraction())) / (2 * cars) if cars else None

    def widened(self, places: int) -> Tally:
        """The same with room for at least so many places, those of whole expressways."""
        more = -(-places // EXPRESSWAY) * EXPRESSWAY - len(self.cars)
        if more <= 0:
            return self
        return Tally(np.pad(self.cars, (0, more)), np.pad(self.speeds, (0, more)), self.fractions)

    def plus(self, places: np.ndarray, cars: np.ndarray, speeds: np.ndarray) -> Tally:
        wide = self.widened(int(places.max(initial=-1)) + 1)
        count = len(wide.cars)
        # Doubles, but whole numbers below 2^53: exact.
        more_cars, more_speeds = (np.bincount(places, added, count).astype(np.int64) for added in (cars, speeds))
        return Tally(wide.cars + more_cars, wide.speeds + more_speeds, wide.fractions)

    def pack(self) -> bytes:
        # As text: their numbers may be of any size.
        rests = json.dumps({place: str(rest) for place, rest in self.fractions.items()})
        return join_parts([self.cars.astype("i4").tobytes(), self.speeds.astype("i4").tobytes(), rests.encode()])

    @classmethod
    def unpack(cls, data: bytes) -> Tally:
        cars, speeds, rests = split_parts(data)
        fractions = {int(place): Fraction(rest) for place, rest in json.loads(rests).items()}
        return cls(np.frombuffer(cars, "i4").astype(np.int64), np.frombuffer(speeds, "i4").astype(np.int64), fractions)


def total(tallies: Iterable[Tally]) -> Tally:
    """What several shards have counted."""
    tallies = list(tallies)
    places = max(len(tally.cars) for tally in tallies)
    wide = [tally.widened(places) for tally in tallies]
    fractions: dict[int, Fraction] = {}
    for tally in wide:
        for place, rest in tally.fractions.items():
            fractions[place] = fractions.get(place, Fraction()) + rest
    return Tally(sum(tally.cars for tally in wide), sum(tally.speeds for tally in wide), fractions)  # type: ignore[arg-type]


def count_second(tally: Tally, reports: Columns, known: np.ndarray, previous_speed: np.ndarray) -> Tally:
    """Add a second's reports; `known` are those whose vehicle was in the same place in the same minute 30 s before."""
    speed = reports["speed_mph"].astype(np.int64)
    return tally.plus(reports["place"], ~known, np.where(known, speed - previous_speed, 2 * speed))


def recount(tally: Tally, sightings: Columns) -> Tally:
    """Count those vehicles anew of whose reports in the minute these are all."""
    speeds: dict[tuple[int, int], dict[int, int]] = {}
    rows = (sightings[name].tolist() for name in ("vehicle_id", "place", "second", "speed_mph"))
    for vehicle, place, second, speed in zip(*rows, strict=True):
        speeds.setdefault((vehicle, place), {})[second] = speed
    places = np.array([place for _, place in speeds], np.int64)
    changes = [_change(seen) for seen in speeds.values()]
    wholes = [speed.numerator // speed.denominator for _, speed in changes]
    tally = tally.plus(places, np.array([cars for cars, _ in changes]), np.array(wholes))
    fractions = dict(tally.fractions)
    for place, (_, speed), whole in zip(places.tolist(), changes, wholes, strict=True):
        if speed != whole:
            fractions[place] = fractions.get(place, Fraction()) + speed - whole
    return Tally(tally.cars, tally.speeds, fractions)


def _change(speeds: dict[int, int]) -> tuple[int, Fraction]:
    """One vehicle in one place: what all its reports add, without what each second has added already."""
    pairs = {second for second in speeds if second - spec.REPORT_PERIOD_S in speeds}
    counted = sum(
        speed - speeds[second - spec.REPORT_PERIOD_S] if second in pairs else 2 * speed
        for second, speed in speeds.items()
    )
    return 1 - (len(speeds) - len(pairs)), Fraction(2 * sum(speeds.values()), len(speeds)) - counted
