"""Exactly the answers that are expected?  Told without bringing each of them together with its counterpart.

Every answer gets a hash of 64 bits.  Two heaps of answers are taken as equal if they hold equally many and their hashes
add up to the same.  The hash has a seed that is drawn anew each time.  If it is as good as chance, heaps that differ
are taken as equal once in 2^64 times.
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from driver.dataset.folder import ID_BLOCK, Dataset

Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Heap:
    """How many answers, and the sum of their hashes."""

    answers: int = 0
    total: int = 0

    def __add__(self, other: Heap) -> Heap:
        return Heap(self.answers + other.answers, (self.total + other.total) % 2**64)


def draw_seed() -> int:
    return secrets.randbits(64)


def heap_of(seed: int, id: npt.NDArray[Any], *values: npt.NDArray[Any]) -> Heap:
    return _heap(_mixed(_hashed(seed, len(id), values) ^ _unsigned(id)))


def heap_of_copies(
    dataset: Dataset, seed: int, xway: npt.NDArray[Any], id: npt.NDArray[Any], *values: npt.NDArray[Any]
) -> Heap:
    """The answers of every copy (see driver.dataset.relabel), from those of the distinct expressways."""
    if dataset.distinct is None:
        return heap_of(seed, id, *values)
    hashed, heap = _hashed(seed, len(id), values), Heap()
    # The half of an expressway is its eastbound one.
    eastbound = id % ID_BLOCK < ID_BLOCK // 2
    for shift in range(0, math.ceil(dataset.xways), dataset.distinct):
        there = (xway + shift < math.floor(dataset.xways)) | ((xway + shift < dataset.xways) & eastbound)
        heap += _heap(_mixed(hashed[there] ^ _unsigned(id[there].astype(np.int64) + shift * ID_BLOCK)))
    return heap


def original_ids(dataset: Dataset, id: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The VID or QID that each of these is a copy of."""
    return id if dataset.distinct is None else id % (dataset.distinct * ID_BLOCK)


def _hashed(seed: int, size: int, values: tuple[npt.NDArray[Any], ...]) -> Hashes:
    hashes = np.full(size, seed, np.uint64)
    for value in values:
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


def _heap(hashes: Hashes) -> Heap:
    return Heap(len(hashes), int(np.add.reduce(hashes, dtype=np.uint64)))
