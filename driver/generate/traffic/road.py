"""One direction of an expressway: where its vehicles are, and the order in which they stand on each lane.

Vehicles overtake only by changing lane, so the order on a lane changes only where one joins or leaves it, and is never
sorted again.  Positions are feet along the way, speeds feet per second, the time step is a second.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from driver.generate.traffic.model import ROAD_FT, Driving
from driver.generate.traffic.trips import Accidents, Trips
from polling_baseline import spec

NOBODY = -1
NOWHERE_FT = -1.0
OFF_ROAD = -1
# What a vehicle has to do with an accident.
UNHURT, FIRST_HURT, SECOND_HURT = 0, 1, 2

compiled = numba.njit(error_model="numpy")
# For what is called once per vehicle: handing over a road costs more than the work itself.
inlined = numba.njit(error_model="numpy", inline="always")


class Road(NamedTuple):
    """All that changes while time goes by; arrays by trip, by lane or by segment."""

    # By trip
    at_ft: np.ndarray
    speed_ft_s: np.ndarray
    wish_ft_s: np.ndarray
    exit_ft: np.ndarray
    lane: np.ndarray
    vehicle: np.ndarray
    hurt: np.ndarray
    entered: np.ndarray  # the second
    turned_off: np.ndarray  # the second in which it was last seen before the exit lane
    next_reporting: np.ndarray  # the next trip that reports in the same seconds
    # By lane, the front vehicle first
    order: np.ndarray
    standing: np.ndarray  # how many
    # By segment
    next_entering: np.ndarray
    last_entered: np.ndarray
    waiting_ft: np.ndarray  # who stands at the end of the ramp and wants to merge; beyond the road if nobody
    # By second of the report period
    first_reporting: np.ndarray
    # Vehicles that may come back: numbers, and the second from which they may
    returning: np.ndarray
    returning_from: np.ndarray
    # By accident
    hurt_trips: np.ndarray  # the two trips, or NOBODY
    cleared: np.ndarray  # the second, or NOBODY
    wreck_ft: np.ndarray  # where two vehicles stand, or NOWHERE_FT
    # Vehicles so far, and head and tail of the queue of those that come back
    tally: np.ndarray
    # Which lane joins which, while lanes change
    joining: np.ndarray
    scratch: np.ndarray


def empty_road(trips: Trips, accidents: Accidents) -> Road:
    """The road before the first second."""
    count = len(trips.due)
    # What is needed together lies together: one miss of the processor's cache instead of four.
    together = np.stack([trips.entry_ft, trips.entry_ft_s, trips.wish_ft_s, trips.exit_ft], axis=1)
    return Road(
        at_ft=together[:, 0],
        speed_ft_s=together[:, 1],
        wish_ft_s=together[:, 2],
        exit_ft=together[:, 3],
        lane=np.full(count, OFF_ROAD, np.int8),
        vehicle=np.full(count, NOBODY, np.int32),
        hurt=np.zeros(count, np.int8),
        entered=np.full(count, NOBODY, np.int32),
        turned_off=np.full(count, NOBODY, np.int32),
        next_reporting=np.full(count, NOBODY, np.int32),
        order=np.empty((spec.EXIT_LANE, count), np.int32),
        standing=np.zeros(spec.EXIT_LANE, np.int64),
        next_entering=trips.first_of_segment[:-1].copy(),
        last_entered=np.full(spec.SEGMENTS, NOBODY, np.int32),
        waiting_ft=np.full(spec.SEGMENTS, 2.0 * ROAD_FT),
        first_reporting=np.full(spec.REPORT_PERIOD_S, NOBODY, np.int32),
        returning=np.empty(count, np.int32),
        returning_from=np.empty(count, np.int32),
        hurt_trips=np.full((len(accidents.due), 2), NOBODY, np.int32),
        cleared=np.full(len(accidents.due), NOBODY, np.int32),
        wreck_ft=np.full(len(accidents.due), NOWHERE_FT),
        tally=np.zeros(3, np.int64),
        joining=np.empty((spec.EXIT_LANE, count), np.int32),
        scratch=np.empty(count, np.int32),
    )


@compiled
def merge_into(road: Road, lane: int, joining: np.ndarray, joiners: int) -> None:
    """Put `joiners` vehicles, the front one first, in their places on a lane."""
    row, last, coming = road.order[lane], road.standing[lane] - 1, joiners - 1
    while coming >= 0:
        if last >= 0 and road.at_ft[row[last]] < road.at_ft[joining[coming]]:
            row[last + coming + 1] = row[last]
            last -= 1
        else:
            row[last + coming + 1] = joining[coming]
            coming -= 1
    road.standing[lane] += joiners


@compiled
def drop_leavers(road: Road, lane: int) -> None:
    """Close the ranks of a lane after some of its vehicles went elsewhere."""
    row, kept = road.order[lane], 0
    for place in range(road.standing[lane]):
        if road.lane[row[place]] == lane:
            row[kept] = row[place]
            kept += 1
    road.standing[lane] = kept


@compiled
def admit(road: Road, trips: Trips, driving: Driving, second: int) -> None:
    """Let the next vehicle of each segment onto its ramp if it is due and there is room."""
    joiners = 0
    for segment in range(len(road.last_entered) - 1, -1, -1):
        trip = road.next_entering[segment]
        if trip == trips.first_of_segment[segment + 1] or trips.due[trip] > second:
            continue
        ahead = road.last_entered[segment]
        if ahead != NOBODY and road.lane[ahead] == spec.ENTRY_LANE:
            gap_ft = road.at_ft[ahead] - road.at_ft[trip] - driving.length_ft
            if gap_ft < 0:
                continue
            road.speed_ft_s[trip] = min(road.speed_ft_s[trip], road.speed_ft_s[ahead] + gap_ft / driving.headway_s)
        road.next_entering[segment] += 1
        road.last_entered[segment] = trip
        road.lane[trip] = spec.ENTRY_LANE
        road.entered[trip] = second
        road.vehicle[trip] = _vehicle_for(road, second)
        phase = second % spec.REPORT_PERIOD_S
        road.next_reporting[trip] = road.first_reporting[phase]
        road.first_reporting[phase] = trip
        road.scratch[joiners] = trip
        joiners += 1
    merge_into(road, spec.ENTRY_LANE, road.scratch, joiners)


@compiled
def _vehicle_for(road: Road, second: int) -> int:
    """A vehicle that comes back, if one is ready to; else a new one."""
    head = road.tally[1]
    if head < road.tally[2] and road.returning_from[head] <= second:
        road.tally[1] += 1
        return road.returning[head]
    road.tally[0] += 1
    return road.tally[0] - 1


@compiled
def leave(road: Road, trips: Trips, trip: int, second: int) -> None:
    """End a trip; its vehicle may come back after a while."""
    road.lane[trip] = OFF_ROAD
    if trips.return_gap_s[trip]:
        road.returning[road.tally[2]] = road.vehicle[trip]
        road.returning_from[road.tally[2]] = second + trips.return_gap_s[trip]
        road.tally[2] += 1


@compiled
def report(road: Road, trips: Trips, second: int, out: np.ndarray, rows: int) -> int:
    """Write second, vehicle, speed, lane and position of all whose turn it is; the exit lane ends a trip."""
    phase = second % spec.REPORT_PERIOD_S
    before, trip = NOBODY, road.first_reporting[phase]
    while trip != NOBODY:
        lane, after, at_ft = road.lane[trip], road.next_reporting[trip], road.at_ft[trip]
        if lane == spec.EXIT_LANE:
            at_ft += road.speed_ft_s[trip] * (second - road.turned_off[trip])
        if lane != OFF_ROAD:
            out[0, rows], out[1, rows] = second, road.vehicle[trip]
            out[2, rows] = int(road.speed_ft_s[trip] * 3600 / spec.SEGMENT_FT + 0.5)
            out[3, rows], out[4, rows] = lane, int(at_ft)
            rows += 1
        if lane == spec.EXIT_LANE:
            leave(road, trips, trip, second)
        if lane == spec.EXIT_LANE or lane == OFF_ROAD:
            if before == NOBODY:
                road.first_reporting[phase] = after
            else:
                road.next_reporting[before] = after
        else:
            before = trip
        trip = after
    return rows
