"""Places on the road, and stretches of time, as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from polling_baseline import spec
from polling_baseline.batch import Columns

Integers = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp] | slice

# A segment of one direction of one expressway is a cell.
CELLS = 2 * spec.MAX_XWAYS * spec.SEGMENTS
# A spot is xway, dir, lane and position in one number.
POSITION_BITS, LANE_BITS = 20, 3


def cell_of(road: Integers, seg: npt.NDArray[Any]) -> Integers:
    """`road` is expressway and direction: 2 * xway + dir."""
    return road * spec.SEGMENTS + seg


def spot_of(columns: Columns) -> Integers:
    road = columns["xway"].astype(np.int64) * 2 + columns["dir"]
    return ((road << LANE_BITS | columns["lane"]) << POSITION_BITS) | columns["position_ft"]


def position_of(spot: Integers) -> Integers:
    return spot & ((1 << POSITION_BITS) - 1)


def road_of(spot: Integers) -> Integers:
    return spot >> (POSITION_BITS + LANE_BITS)


def by_second(seconds: npt.NDArray[np.int16]) -> list[tuple[int, slice]]:
    """The rows of each second, in sorted seconds."""
    if seconds[0] == seconds[-1]:
        return [(int(seconds[0]), slice(0, len(seconds)))]
    starts = np.flatnonzero(np.diff(seconds, prepend=-1))
    stops = [*starts[1:], len(seconds)]
    return [(int(seconds[start]), slice(start, stop)) for start, stop in zip(starts, stops, strict=True)]


def by_minute(seconds: npt.NDArray[Any]) -> Iterator[tuple[int, Rows]]:
    """The rows of each minute; nearly always it is one."""
    first, last = spec.minute_of(int(seconds.min())), spec.minute_of(int(seconds.max()))
    if first == last:
        yield first, slice(0, len(seconds))
        return
    for minute in range(first, last + 1):
        rows = np.flatnonzero(seconds // spec.MINUTE_S + 1 == minute)
        if len(rows):
            yield minute, rows
