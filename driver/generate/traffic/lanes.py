"""From lane to lane: merge from the ramp, pass, and turn off."""

from __future__ import annotations

import numpy as np

from driver.generate.traffic.model import ROAD_FT, Driving
from driver.generate.traffic.motion import FAR_FT, RAMP_SIDE, chance, safe_speed
from driver.generate.traffic.road import NOBODY, UNHURT, Road, compiled, drop_leavers, inlined, leave, merge_into
from driver.generate.traffic.trips import Trips
from polling_baseline import spec


@compiled
def change_lanes(road: Road, trips: Trips, driving: Driving, lane: int, salt: int, second: int) -> None:
    """Let the vehicles of one lane go to a better one; lanes take turns, so that no two vehicles go for one gap."""
    joiners = np.zeros(len(road.standing), np.int64)
    behind = np.zeros(len(road.standing), np.int64)
    for place in range(road.standing[lane]):
        trip = road.order[lane, place]
        at_ft = road.at_ft[trip]
        if lane == spec.ENTRY_LANE:
            if int(at_ft) % spec.SEGMENT_FT < driving.merge_ft:
                continue
        elif at_ft >= road.exit_ft[trip] - driving.exit_ft + spec.SEGMENT_FT:
            road.exit_ft[trip] += spec.SEGMENT_FT  # missed it: take the next
        urgent = lane == spec.ENTRY_LANE or road.exit_ft[trip] - at_ft < driving.prepare_ft
        if road.hurt[trip] != UNHURT or (urgent and lane == RAMP_SIDE):
            continue
        if not urgent and chance(~salt, trip, second) < 0.5:
            continue  # not all at once
        best = best_lane(road, trips, driving, place, lane, urgent, behind, joiners)
        if best != lane:
            road.lane[trip] = best
            road.joining[best, joiners[best]] = trip
            joiners[best] += 1
    drop_leavers(road, lane)
    for other in spec.TRAVEL_LANES:
        merge_into(road, other, road.joining[other], joiners[other])


@inlined
def best_lane(
    road: Road,
    trips: Trips,
    driving: Driving,
    place: int,
    lane: int,
    urgent: bool,
    behind: np.ndarray,
    joiners: np.ndarray,
) -> int:
    """The lane that is worth a change, or the same one; moves `behind` up to who would follow on each lane."""
    trip = road.order[lane, place]
    wish_ft_s, own_ft_s = road.wish_ft_s[trip], road.wish_ft_s[trip]
    if place > 0:
        ahead = road.order[lane, place - 1]
        gap_ft = road.at_ft[ahead] - driving.length_ft - road.at_ft[trip]
        own_ft_s = min(own_ft_s, safe_speed(gap_ft, road.speed_ft_s[ahead], driving))
    lowest, highest = max(lane - 1, spec.TRAVEL_LANES[0]), min(lane + 1, RAMP_SIDE)
    if urgent:
        lowest = highest = RAMP_SIDE if lane == spec.ENTRY_LANE else lane + 1
    brake_ft_s = driving.urgent_brake_ft_s if urgent else driving.polite_brake_ft_s
    best, best_gain_ft_s = lane, driving.gain_ft_s
    for other in range(lowest, highest + 1):
        if other == lane:
            continue
        while behind[other] < road.standing[other] and road.at_ft[road.order[other, behind[other]]] >= road.at_ft[trip]:
            behind[other] += 1
        joined = road.joining[other, joiners[other] - 1] if joiners[other] else NOBODY
        beside_ft_s = speed_beside(road, driving, trip, other, behind[other], joined, brake_ft_s)
        if beside_ft_s < 0:
            continue
        nearer = abs(trips.lane[trip] - other) < abs(trips.lane[trip] - lane)
        gain_ft_s = min(beside_ft_s, wish_ft_s) - own_ft_s
        gain_ft_s += driving.preference_ft_s if nearer else -driving.preference_ft_s
        if urgent or gain_ft_s > best_gain_ft_s:
            best, best_gain_ft_s = other, gain_ft_s
    return best


@inlined
def speed_beside(
    road: Road, driving: Driving, trip: int, lane: int, behind: int, joined: int, brake_ft_s: float
) -> float:
    """How fast a vehicle could go on another lane, or -1 if it or the one behind would have to brake too hard."""
    at_ft, speed_ft_s = road.at_ft[trip], road.speed_ft_s[trip]
    ahead_ft, ahead_ft_s, follower_ft, follower_ft_s = FAR_FT, 0.0, -FAR_FT, 0.0
    if behind > 0:
        ahead = road.order[lane, behind - 1]
        ahead_ft, ahead_ft_s = road.at_ft[ahead], road.speed_ft_s[ahead]
    if joined != NOBODY and road.at_ft[joined] < ahead_ft:
        ahead_ft, ahead_ft_s = road.at_ft[joined], road.speed_ft_s[joined]
    if behind < road.standing[lane]:
        follower = road.order[lane, behind]
        follower_ft, follower_ft_s = road.at_ft[follower], road.speed_ft_s[follower]
    # Closer than at rest, to squeeze in, but not into one another.
    if min(ahead_ft - at_ft, at_ft - follower_ft) < driving.vehicle_ft:
        return -1.0
    safe_ft_s = safe_speed(ahead_ft - driving.length_ft - at_ft, ahead_ft_s, driving)
    if safe_ft_s < speed_ft_s - brake_ft_s:
        return -1.0
    if safe_speed(at_ft - driving.length_ft - follower_ft, speed_ft_s, driving) < follower_ft_s - brake_ft_s:
        return -1.0
    return safe_ft_s


@compiled
def turn_off(road: Road, trips: Trips, driving: Driving, second: int) -> None:
    """Take those that reached their exit off the lane beside it; at the end of the road, off every lane."""
    last_exit_ft = ROAD_FT - spec.SEGMENT_FT + driving.exit_ft
    for lane in spec.TRAVEL_LANES:
        left = False
        for place in range(road.standing[lane]):
            trip = road.order[lane, place]
            at_ft = road.at_ft[trip]
            if lane != RAMP_SIDE and at_ft < last_exit_ft:
                break
            if at_ft < road.exit_ft[trip] or road.hurt[trip] != UNHURT:
                continue
            end_ft = road.exit_ft[trip] - driving.exit_ft + spec.SEGMENT_FT
            if at_ft >= end_ft:
                continue
            left = True
            if trips.silent[trip]:
                leave(road, trips, trip, second)
            else:
                # As fast as lets it report from the exit lane, once, when its turn comes.
                wait_s = (road.entered[trip] - second) % spec.REPORT_PERIOD_S
                road.lane[trip] = spec.EXIT_LANE
                road.turned_off[trip] = second
                if wait_s:
                    road.speed_ft_s[trip] = min(road.speed_ft_s[trip], (end_ft - 1 - at_ft) / wait_s)
        if left:
            drop_leavers(road, lane)
