"""Who drives from where to where, and which of them will have an accident: drawn before anyone moves."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from driver.generate.traffic.model import FT_PER_S_PER_MPH, ROAD_FT, Demand, Driving, Mishap
from polling_baseline import spec

GOLDEN_RATIO = (5**0.5 - 1) / 2
_normal_share = np.vectorize(NormalDist().cdf, otypes=[float])


class Trips(NamedTuple):
    """The trips of one direction, by entry segment and then by time; positions in feet along the way."""

    due: np.ndarray  # the second from which the trip may begin
    entry_ft: np.ndarray
    entry_ft_s: np.ndarray
    exit_ft: np.ndarray  # where the exit lane begins
    wish_ft_s: np.ndarray
    lane: np.ndarray  # the preferred one
    silent: np.ndarray  # gives no report from the exit lane
    return_gap_s: np.ndarray  # 0 for a vehicle that does not come back
    first_of_segment: np.ndarray  # SEGMENTS + 1 bounds


class Accidents(NamedTuple):
    """The accidents of one direction: when at the earliest, where, and how long they can be seen."""

    due: np.ndarray
    lane: np.ndarray
    at_ft: np.ndarray  # there, or where the next vehicles come from behind
    stop_s: np.ndarray


def draw_trips(rng: np.random.Generator, demand: Demand, driving: Driving) -> Trips:
    """The trips of one direction over a whole run."""
    seconds = np.arange(spec.RUN_SECONDS)
    due = np.repeat(seconds, rng.poisson(np.interp(seconds, demand.entry_s, demand.entries_per_s) / 2))
    count = len(due)
    entry, leave = _draw_segments(rng, count, demand)
    order = np.lexsort((due, entry))
    due, entry, leave = due[order], entry[order], leave[order]

    def around(mean: float, sigma: float) -> np.ndarray:
        """A normal draw per trip; the data have no value farther from the mean."""
        return mean + sigma * np.clip(rng.standard_normal(count), -2.1, 2.1)

    return Trips(
        due=due.astype(np.int32),
        entry_ft=entry * spec.SEGMENT_FT + around(demand.entry_mean_ft, demand.entry_sigma_ft),
        entry_ft_s=around(demand.ramp_mean_mph, demand.ramp_sigma_mph) * FT_PER_S_PER_MPH,
        exit_ft=leave * spec.SEGMENT_FT + driving.exit_ft,
        wish_ft_s=around(demand.wish_mean_mph, demand.wish_sigma_mph) * FT_PER_S_PER_MPH,
        lane=rng.choice(np.array(spec.TRAVEL_LANES, np.int8), count, p=demand.lane_share),
        silent=rng.random(count) < demand.silent_share,
        return_gap_s=(rng.integers(*demand.return_gap_s, count) * (rng.random(count) < demand.return_share)).astype(
            np.int32
        ),
        first_of_segment=np.searchsorted(entry, np.arange(spec.SEGMENTS + 1)),
    )


def _draw_segments(rng: np.random.Generator, count: int, demand: Demand) -> tuple[np.ndarray, np.ndarray]:
    """Entry uniform, exit normal and not behind the entry, counted along the way."""
    entry, leave = np.empty(0, np.int64), np.empty(0, np.int64)
    while len(entry) < count:
        shared, own = rng.standard_normal((2, 3 * count + 10))
        start = np.floor(spec.SEGMENTS * _normal_share(shared)).astype(np.int64)
        aim = demand.correlation * shared + np.sqrt(1 - demand.correlation**2) * own
        end = np.floor(demand.exit_mean_segment + demand.exit_sigma_segments * aim).astype(np.int64)
        possible = (end >= start) & (end < spec.SEGMENTS)
        entry, leave = np.append(entry, start[possible]), np.append(leave, end[possible])
    return entry[:count], leave[:count]


def draw_accidents(rng: np.random.Generator, direction: int, mishap: Mishap) -> Accidents:
    """One accident per period on either side of the road; both sides draw all and keep their own.

    Places and lengths are spread evenly, as nine free draws would often leave an expressway with half the usual alerts.
    """
    starts = np.arange(0, spec.RUN_SECONDS, mishap.period_s)
    count = len(starts)
    on_this_side = rng.integers(2, size=count) == direction
    along = (rng.random() + np.arange(count) * GOLDEN_RATIO) % 1
    length = (rng.permutation(count) + rng.random(count)) / count
    shortest_s, longest_s = mishap.stop_s
    return Accidents(
        due=(starts + rng.integers(mishap.from_s, mishap.period_s, count))[on_this_side].astype(np.int32),
        lane=rng.choice(np.array(spec.TRAVEL_LANES, np.int8), count)[on_this_side],
        at_ft=(mishap.from_ft + (ROAD_FT - mishap.from_ft) * along)[on_this_side],
        stop_s=(shortest_s + (longest_s - shortest_s) * length**2)[on_this_side].astype(np.int32),
    )
