"""Hash tables of integers, with open addresses: what joins by vehicle rest on."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from polling_baseline.compiled import compiled

EMPTY = -1
SMALLEST = 1 << 10
# Two odd numbers of 64 bits; the first is 2^64 divided by the golden ratio.
SPREAD, SPREAD_AGAIN = np.uint64(11400714819323198485), np.uint64(14029467366897019727)
HALF = np.uint64(32)

Integers = npt.NDArray[Any]


def capacity_for(rows: int) -> int:
    """At most half full."""
    return max(SMALLEST, 1 << (2 * rows - 1).bit_length())


def shift_for(capacity: int) -> np.uint64:
    return np.uint64(64 - (capacity.bit_length() - 1))


@compiled
def place(key, shift):  # type: ignore[no-untyped-def]
    """Where to look for a key first; keys may come in even steps, which one product alone might keep."""
    mixed = np.uint64(key) * SPREAD
    return np.int64(((mixed ^ (mixed >> HALF)) * SPREAD_AGAIN) >> shift)


@compiled
def insert(keys, values, shift, new_keys, new_values):  # type: ignore[no-untyped-def]
    """Put keys in that the table does not have yet."""
    last = len(keys) - 1
    for row in range(len(new_keys)):
        at = place(new_keys[row], shift)
        while keys[at] != EMPTY:
            at = (at + 1) & last
        keys[at] = new_keys[row]
        values[at] = new_values[row]


@compiled
def look_up(keys, values, shift, wanted, missing, out):  # type: ignore[no-untyped-def]
    last = len(keys) - 1
    for row in range(len(wanted)):
        at = place(wanted[row], shift)
        out[row] = missing
        while keys[at] != EMPTY:
            if keys[at] == wanted[row]:
                out[row] = values[at]
                break
            at = (at + 1) & last


@compiled
def number(keys, values, shift, wanted, used, numbers):  # type: ignore[no-untyped-def]
    """The number of each key; a new key gets the next one.  Gives how many numbers are used."""
    last = len(keys) - 1
    for row in range(len(wanted)):
        key = wanted[row]
        at = place(key, shift)
        while keys[at] != EMPTY and keys[at] != key:
            at = (at + 1) & last
        if keys[at] == EMPTY:
            keys[at] = key
            values[at] = used
            used += 1
        numbers[row] = values[at]
    return used


@compiled
def add_all(keys, values, shift, new_keys, amounts):  # type: ignore[no-untyped-def]
    """Add amounts to the values of keys, which start at 0; gives how many keys are new."""
    last, new = len(keys) - 1, 0
    for row in range(len(new_keys)):
        at = place(new_keys[row], shift)
        while keys[at] != EMPTY and keys[at] != new_keys[row]:
            at = (at + 1) & last
        if keys[at] == EMPTY:
            keys[at] = new_keys[row]
            new += 1
        values[at] += amounts[row]
    return new


@compiled
def exchange(keys, values, shift, wanted, amounts, before):  # type: ignore[no-untyped-def]
    """Set the values of keys and give those they had; 0 for a new key, which only a value makes."""
    last, new = len(keys) - 1, 0
    for row in range(len(wanted)):
        at = place(wanted[row], shift)
        while keys[at] != EMPTY and keys[at] != wanted[row]:
            at = (at + 1) & last
        before[row] = 0
        if keys[at] == EMPTY:
            if amounts[row] == 0:
                continue
            keys[at] = wanted[row]
            new += 1
        else:
            before[row] = values[at]
        values[at] = amounts[row]
    return new


class Numbering:
    """Numbers 0, 1, ... for the distinct integers that come."""

    def __init__(self) -> None:
        self.used = 0
        self._allocate(SMALLEST)

    def of(self, wanted: Integers) -> Integers:
        if 2 * (self.used + len(wanted)) > len(self._keys):
            self._grow(self.used + len(wanted))
        numbers = np.empty(len(wanted), np.int32)
        self.used = number(self._keys, self._values, self._shift, wanted, self.used, numbers)
        return numbers

    def clear(self) -> None:
        self.used = 0
        self._keys.fill(EMPTY)

    def _allocate(self, capacity: int) -> None:
        self._keys = np.full(capacity, EMPTY, np.int64)
        self._values = np.empty(capacity, np.int32)
        self._shift = shift_for(capacity)

    def _grow(self, rows: int) -> None:
        full = self._keys != EMPTY
        keys, values = self._keys[full], self._values[full]
        self._allocate(capacity_for(rows))
        insert(self._keys, self._values, self._shift, keys, values)


class Amounts:
    """An amount for each integer; 0 unless something else was said."""

    def __init__(self) -> None:
        self._used = 0
        self._allocate(SMALLEST)

    def add(self, keys: Integers, amounts: Integers) -> None:
        self._make_room(len(keys))
        self._used += add_all(self._keys, self._values, self._shift, keys, amounts)

    def replace(self, keys: Integers, amounts: Integers) -> Integers:
        """Set the amounts, one after the other, and give those before."""
        self._make_room(len(keys))
        before = np.empty(len(keys), np.int64)
        self._used += exchange(self._keys, self._values, self._shift, keys, amounts, before)
        return before

    def of(self, keys: Integers) -> Integers:
        amounts = np.empty(len(keys), np.int64)
        look_up(self._keys, self._values, self._shift, keys, 0, amounts)
        return amounts

    def _allocate(self, capacity: int) -> None:
        self._keys = np.full(capacity, EMPTY, np.int64)
        self._values = np.zeros(capacity, np.int64)
        self._shift = shift_for(capacity)

    def _make_room(self, rows: int) -> None:
        if 2 * (self._used + rows) <= len(self._keys):
            return
        full = (self._keys != EMPTY) & (self._values != 0)
        keys, values = self._keys[full], self._values[full]
        self._used = len(keys)
        # An eighth of the old table as room: else a steady stream of new keys might mean a new table for each train.
        room = rows + len(full) // 8
        del self._keys, self._values, full
        self._allocate(capacity_for(self._used + room))
        insert(self._keys, self._values, self._shift, keys, values)
