"""Accidents: two vehicles stop at the same place of a travel lane, and go on when it is cleared."""

from __future__ import annotations

from driver.generate.traffic.model import Mishap
from driver.generate.traffic.road import FIRST_HURT, NOBODY, NOWHERE_FT, UNHURT, Road, compiled
from driver.generate.traffic.trips import Accidents

MET_FT = 0.01


@compiled
def have_accidents(road: Road, accidents: Accidents, mishap: Mishap, second: int) -> None:
    """Begin the accidents that are due, and clear those that have lasted long enough."""
    for accident in range(len(accidents.due)):
        first, behind = road.hurt_trips[accident]
        if first == NOBODY:
            if accidents.due[accident] <= second:
                place = first_pair(road, mishap, accidents.lane[accident], accidents.at_ft[accident])
                if place != NOBODY:
                    for role in range(2):
                        trip = road.order[accidents.lane[accident], place + role]
                        road.hurt_trips[accident, role] = trip
                        road.hurt[trip] = FIRST_HURT + role
        elif road.cleared[accident] == NOBODY:
            if road.speed_ft_s[first] == 0 and road.at_ft[first] - road.at_ft[behind] < MET_FT:
                road.at_ft[behind] = road.at_ft[first]
                road.cleared[accident] = second + mishap.detect_s + accidents.stop_s[accident]
                road.wreck_ft[accident] = road.at_ft[first]
        elif road.cleared[accident] == second:
            road.hurt[first] = road.hurt[behind] = UNHURT
            road.wreck_ft[accident] = NOWHERE_FT


@compiled
def first_pair(road: Road, mishap: Mishap, lane: int, at_ft: float) -> int:
    """The first place from there on back of a vehicle whose follower is near, if both stay on the road."""
    for place in range(road.standing[lane] - 1):
        first, behind = road.order[lane, place], road.order[lane, place + 1]
        if (
            road.at_ft[first] <= at_ft
            and road.hurt[first] == UNHURT
            and road.hurt[behind] == UNHURT
            and road.at_ft[first] - road.at_ft[behind] < mishap.apart_ft
            and road.exit_ft[first] - road.at_ft[first] > mishap.stay_ft
            and road.exit_ft[behind] - road.at_ft[behind] > mishap.stay_ft
        ):
            return place
    return NOBODY
