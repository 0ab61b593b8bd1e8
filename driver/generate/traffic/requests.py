"""What drivers ask: a hundredth of the reports bring a request from the same vehicle in the same second."""

from __future__ import annotations

import numpy as np

from driver.generate.traffic.model import Requests
from polling_baseline import spec

Columns = dict[str, np.ndarray]


def draw_requests(
    rng: np.random.Generator, reports: Columns, xway: int, first_query_id: int, asking: Requests
) -> Columns:
    """The requests that come with these reports; a column that is not here is unused."""
    asks = np.flatnonzero(rng.random(len(reports["second"])) < asking.share)
    count = len(asks)
    kind = rng.choice(np.array([spec.BALANCE, spec.EXPENDITURE, spec.TRAVEL_TIME], np.int8), count, p=asking.kind_share)
    day = rng.integers(1, spec.HISTORY_DAYS + 1, count)
    day_of_week = rng.integers(1, spec.WEEK_DAYS + 1, count)
    minute_of_day = rng.integers(1, spec.DAY_MINUTES + 1, count)
    from_seg, to_seg = _journeys(rng, reports["seg"][asks].astype(np.int64), reports["dir"][asks])

    def only(used: np.ndarray, values: np.ndarray | int) -> np.ndarray:
        return np.where(used, values, spec.UNUSED)

    travel = kind == spec.TRAVEL_TIME
    return {
        "kind": kind,
        "second": reports["second"][asks],
        "vehicle_id": reports["vehicle_id"][asks],
        "xway": only(kind != spec.BALANCE, xway),
        "query_id": first_query_id + np.arange(count),
        "from_seg": only(travel, from_seg),
        "to_seg": only(travel, to_seg),
        "day_of_week": only(travel, day_of_week),
        "minute_of_day": only(travel, minute_of_day),
        "day": only(kind == spec.EXPENDITURE, day),
    }


def _journeys(rng: np.random.Generator, seg: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """From the vehicle's segment to one ahead; at the end of the road, the way back."""
    last = spec.SEGMENTS - 1
    ahead = np.where(direction == spec.EAST, last - seg, seg)
    step = np.where(direction == spec.EAST, 1, -1) * np.where(ahead > 0, 1, -1)
    room = np.where(ahead > 0, ahead, last)
    return seg, seg + step * (1 + np.floor(rng.random(len(seg)) * room).astype(np.int64))
