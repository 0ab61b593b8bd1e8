"""A second on one lane: keep a safe distance to the vehicle ahead, whatever it does."""

from __future__ import annotations

import math

import numpy as np

from driver.generate.traffic.model import FT_PER_S_PER_MPH, ROAD_FT, Driving, Mishap
from driver.generate.traffic.road import FIRST_HURT, NOBODY, UNHURT, Road, compiled
from polling_baseline import spec

FAR_FT = 2.0 * ROAD_FT
RAMP_SIDE = spec.TRAVEL_LANES[-1]  # the travel lane beside both ramps


@compiled
def safe_speed(gap_ft: float, ahead_ft_s: float, driving: Driving) -> float:
    """Krauss: the speed from which one can still stop behind the vehicle ahead if it brakes."""
    reserve = driving.brake_ft_s2 * driving.headway_s
    return (
        math.sqrt(reserve * reserve + ahead_ft_s * ahead_ft_s + 2.0 * driving.brake_ft_s2 * max(gap_ft, 0.0)) - reserve
    )


@compiled
def chance(salt: int, trip: int, second: int) -> float:
    """A number from 0 to 1 that depends on nothing but its arguments."""
    mixed = np.uint32(salt) ^ (np.uint32(trip) * np.uint32(0x9E3779B1)) ^ (np.uint32(second) * np.uint32(0x85EBCA77))
    mixed = (mixed ^ (mixed >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
    mixed = np.uint32(mixed ^ (np.uint32(mixed) >> np.uint32(12))) * np.uint32(0x297A2D39)
    return np.uint32(np.uint32(mixed) ^ (np.uint32(mixed) >> np.uint32(15))) / 4294967296.0


@compiled
def move(road: Road, driving: Driving, mishap: Mishap, lane: int, salt: int, second: int) -> None:
    """Move the vehicles of a lane, the front one first; none can run into the one ahead."""
    ahead, ahead_was_ft, ahead_was_ft_s, ahead_ft = NOBODY, FAR_FT, 0.0, FAR_FT
    if lane == spec.ENTRY_LANE:
        road.waiting_ft[:] = FAR_FT
    for place in range(road.standing[lane]):
        trip = road.order[lane, place]
        at_ft, speed_ft_s = road.at_ft[trip], road.speed_ft_s[trip]
        gap_ft, limit_ft_s = ahead_was_ft - driving.length_ft - at_ft, road.wish_ft_s[trip]
        safe_ft_s = safe_speed(gap_ft, ahead_was_ft_s, driving)
        if lane == spec.ENTRY_LANE:
            segment = int(at_ft) // spec.SEGMENT_FT
            left_ft = segment * spec.SEGMENT_FT + driving.ramp_end_ft - at_ft
            limit_ft_s = min(limit_ft_s, driving.ramp_mph * FT_PER_S_PER_MPH)
            safe_ft_s = min(safe_ft_s, safe_speed(left_ft, 0.0, driving))
            if left_ft < 3 * driving.length_ft:
                road.waiting_ft[segment] = at_ft
        elif lane == RAMP_SIDE:
            # Let in who stands at the end of the ramp.
            open_ft = road.waiting_ft[int(at_ft) // spec.SEGMENT_FT] - at_ft
            if driving.length_ft < open_ft < driving.yield_ft:
                safe_ft_s = min(safe_ft_s, safe_speed(open_ft - driving.length_ft, 0.0, driving))
        for wreck_ft in road.wreck_ft:
            if 0.0 < wreck_ft - at_ft < mishap.look_ft:
                limit_ft_s = min(limit_ft_s, mishap.crawl_mph * FT_PER_S_PER_MPH)
        wanted_ft_s = min(speed_ft_s + driving.accelerate_ft_s2, limit_ft_s, safe_ft_s)
        wanted_ft_s -= driving.dawdle * driving.accelerate_ft_s2 * chance(salt, trip, second)
        room_ft = ahead_ft - driving.vehicle_ft - at_ft
        if road.hurt[trip] != UNHURT:
            if road.hurt[trip] == FIRST_HURT:
                wanted_ft_s = speed_ft_s - mishap.brake_ft_s2
            elif ahead != NOBODY and road.hurt[ahead] == FIRST_HURT and road.speed_ft_s[ahead] == 0:
                room_ft = ahead_ft - at_ft
                wanted_ft_s = max(speed_ft_s, mishap.brake_ft_s2)
        new_ft_s = max(0.0, min(wanted_ft_s, room_ft))
        ahead, ahead_was_ft, ahead_was_ft_s, ahead_ft = trip, at_ft, speed_ft_s, at_ft + new_ft_s
        road.at_ft[trip], road.speed_ft_s[trip] = ahead_ft, new_ft_s
