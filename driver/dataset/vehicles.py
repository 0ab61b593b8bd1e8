"""What is known of each vehicle, by its number: a hash table of numpy arrays, made for compiled code.

Vehicle numbers go up to 2^31 - 1 and leave gaps, so they cannot index an array themselves.
"""

from __future__ import annotations

import numpy as np

from polling_baseline.compiled import compiled

FREE = -1


@compiled
def slot_of(ids, vehicle_id):  # type: ignore[no-untyped-def]
    """Where the vehicle stands, or the free place where it belongs."""
    mask = np.uint64(len(ids) - 1)
    slot = (np.uint64(vehicle_id) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20) & mask
    while ids[slot] != FREE and ids[slot] != vehicle_id:
        slot = slot + np.uint64(1) & mask
    return slot


@compiled
def _move(old_ids, old_values, ids, values):  # type: ignore[no-untyped-def]
    for old in range(len(old_ids)):
        if old_ids[old] != FREE:
            slot = slot_of(ids, old_ids[old])
            ids[slot] = old_ids[old]
            values[slot] = old_values[old]


class Vehicles:
    """`ids` and, in the same places, `values`: as many integers per vehicle as asked for, -1 at first.

    Compiled code takes a place by writing the vehicle's number into it, after `reserve` has made room.
    """

    def __init__(self, values: int) -> None:
        self.ids = np.full(1 << 16, FREE, np.int32)
        self.values = np.full((len(self.ids), values), -1, np.int32)

    def __len__(self) -> int:
        return int(np.count_nonzero(self.ids != FREE))

    def reserve(self, more: int) -> None:
        """Make room for so many more vehicles, at most half full."""
        size = len(self.ids)
        while 2 * (len(self) + more) > size:
            size *= 2
        if size > len(self.ids):
            ids, values = self.ids, self.values
            self.ids = np.full(size, FREE, np.int32)
            self.values = np.full((size, values.shape[1]), -1, np.int32)
            _move(ids, values, self.ids, self.values)
