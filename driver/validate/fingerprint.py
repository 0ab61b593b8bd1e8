"""Exactly the answers that are expected?  Told without bringing each of them together with its counterpart.

Every answer gets a hash of 64 bits.  Two heaps of answers are taken as equal if for each minute they hold equally many
and their hashes add up to the same.  The hash has a seed that the judge draws anew each time.  If it is as good as
chance, heaps that differ are taken as equal once in 2^64 times.  A digest has seed 0, so that others can compute it;
docs/digests.md defines it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from driver.dataset.folder import ID_BLOCK, Dataset
from driver.validate.copies import shifts_of
from polling_baseline import spec

Hashes = npt.NDArray[np.uint64]


# The minutes of a run, and one for answers to seconds that no run has.
PLACES = spec.RUN_SECONDS // spec.MINUTE_S + 1


@dataclass(frozen=True, slots=True, eq=False)
class Heap:
    """How many answers there are to each minute's input, and the sum of their hashes."""

    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(PLACES, np.int64))
    totals: Hashes = field(default_factory=lambda: np.zeros(PLACES, np.uint64))

    @property
    def answers(self) -> int:
        return int(self.counts.sum())

    def __add__(self, other: Heap) -> Heap:
        return Heap(self.counts + other.counts, self.totals + other.totals)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Heap)
            and np.array_equal(self.counts, other.counts)
            and np.array_equal(self.totals, other.totals)
        )

    __hash__ = None  # type: ignore[assignment]


def draw_seed() -> int:
    return secrets.randbits(64)


def heap_of(seed: int, id: npt.NDArray[Any], second: npt.NDArray[Any], *values: npt.NDArray[Any]) -> Heap:
    return _heap(second, _mixed(_hashed(seed, second, values) ^ _unsigned(id)))


def heap_of_copies(
    dataset: Dataset,
    seed: int,
    xway: npt.NDArray[Any],
    id: npt.NDArray[Any],
    second: npt.NDArray[Any],
    *values: npt.NDArray[Any],
) -> Heap:
    """The answers of every copy (see driver.dataset.relabel), from those of the distinct expressways."""
    if dataset.distinct is None:
        return heap_of(seed, id, second, *values)
    hashed, heap = _hashed(seed, second, values), Heap()
    for shift, there in shifts_of(dataset, xway, id):
        hashes = _mixed(hashed[there] ^ _unsigned(id[there].astype(np.int64) + shift * ID_BLOCK))
        heap += _heap(second[there], hashes)
    return heap


def place_in_time(second: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The minute, counted from 0; the last place for a second that no run has."""
    minute = second.astype(np.int64) // spec.MINUTE_S
    return np.where((minute >= 0) & (minute < PLACES - 1), minute, PLACES - 1)


def _hashed(seed: int, second: npt.NDArray[Any], values: tuple[npt.NDArray[Any], ...]) -> Hashes:
    hashes = np.full(len(second), seed, np.uint64)
    for value in (second, *values):
        hashes = _mixed(hashes ^ _unsigned(value))
    return hashes


def _unsigned(value: npt.NDArray[Any]) -> Hashes:
    return value.astype(np.int64).view(np.uint64)


def _mixed(hashes: Hashes) -> Hashes:
    """Each bit depends on each bit of before (the finalizer of splitmix64)."""
    hashes = hashes + np.uint64(0x9E3779B97F4A7C15)
    hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return hashes ^ (hashes >> np.uint64(31))


def _heap(second: npt.NDArray[Any], hashes: Hashes) -> Heap:
    place = place_in_time(second)
    totals = np.zeros(PLACES, np.uint64)
    np.add.at(totals, place, hashes)
    return Heap(np.bincount(place, minlength=PLACES), totals)
