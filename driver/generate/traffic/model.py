"""Every number of the traffic model, with its unit and where it comes from.

"paper" is the paper of the benchmark, section 3.1.1; "data" the beginning of an original data set; "physics" a value
that is usual in the literature on traffic flow; "volume" was set so that three hours have the specification's volumes;
with two words, the literature gave the range and the volumes the value.
"""

from __future__ import annotations

from typing import NamedTuple

from polling_baseline import spec

ROAD_FT = spec.SEGMENTS * spec.SEGMENT_FT
FT_PER_S_PER_MPH = 5280 / 3600


class Demand(NamedTuple):
    """Who wants to drive from where to where, both directions together."""

    # Entries per second: data until 420 s, volume afterwards; straight lines in between.
    entry_s: tuple[int, ...] = (0, 210, 420, 3600, 10800)
    entries_per_s: tuple[float, ...] = (12.8, 8.4, 8.8, 17.0, 22.0)
    exit_mean_segment: float = 50.0  # paper
    exit_sigma_segments: float = 20.0  # paper
    correlation: float = 0.57  # volume: who enters farther on leaves farther on; 0 would jam the whole road
    entry_mean_ft: float = 440.0  # data: how far into its segment a vehicle enters
    entry_sigma_ft: float = 60.0  # data
    ramp_mean_mph: float = 27.0  # data: speed at entry
    ramp_sigma_mph: float = 4.0  # data
    wish_mean_mph: float = 57.0  # data: speed on a free road
    wish_sigma_mph: float = 8.5  # data
    lane_share: tuple[float, ...] = (0.25, 0.5, 0.25)  # data: preferred travel lane
    silent_share: float = 0.15  # data: trips that end without a report from the exit lane
    return_share: float = 0.04  # volume: vehicles that make another trip
    return_gap_s: tuple[int, int] = (300, 1800)  # volume: and how much later


class Driving(NamedTuple):
    """How a vehicle moves; the safe speed is Krauss' (1998)."""

    vehicle_ft: float = 17.0  # physics, volume: nobody comes closer to the vehicle ahead, not even to squeeze in
    length_ft: float = 23.0  # physics, volume: a vehicle and the gap in front of it at rest
    headway_s: float = 1.0  # physics, volume: time to the vehicle ahead
    accelerate_ft_s2: float = 5.0  # physics, volume
    brake_ft_s2: float = 10.0  # physics
    dawdle: float = 0.2  # physics, volume: at most this share of the acceleration is lost at random
    yield_ft: float = 200.0  # volume: from so far away a vehicle lets in who waits at the end of a ramp
    # Lane changes
    gain_ft_s: float = 4.0  # physics: change lane if that makes the vehicle so much faster
    preference_ft_s: float = 6.0  # guessed from data: what the preferred lane is worth
    prepare_ft: float = 3000.0  # volume: distance from the exit at which to go to the lane beside it
    polite_brake_ft_s: float = 15.0  # volume: how much a change may slow down the vehicle behind
    urgent_brake_ft_s: float = 25.0  # volume: the same, for who must merge or leave
    # Ramps, in feet from the beginning of the segment
    merge_ft: float = 900.0  # guessed from data: from here on a vehicle may leave the ramp
    ramp_end_ft: float = 1800.0  # guessed from data
    ramp_mph: float = 33.0  # data: the limit on the entry ramp
    exit_ft: float = 4280.0  # data: the exit lane is the rest of the segment


class Mishap(NamedTuple):
    """Accidents: one per expressway and period."""

    period_s: int = 1200  # paper
    from_s: int = 30  # data: the first one of a period comes at least so late
    from_ft: float = 10560.0  # volume: before that there is hardly any traffic
    detect_s: int = 120  # rule 6: by then, both vehicles have given four reports from the place
    # Paper: 10 to 20 minutes, from the detection until one of them reports from elsewhere, which takes up to 60 s more.
    stop_s: tuple[int, int] = (600, 1140)  # the shorter ones are the more frequent (volume)
    brake_ft_s2: float = 16.0  # physics: an emergency stop
    apart_ft: float = 2640.0  # volume: two vehicles farther apart do not meet
    look_ft: float = 1500.0  # physics: from so far away the other lanes slow down
    crawl_mph: float = 10.0  # physics, volume: to this speed
    stay_ft: float = 5280.0  # volume: neither leaves the road within that distance


class Requests(NamedTuple):
    """Requests."""

    share: float = 0.01  # paper: of the reports
    kind_share: tuple[float, float, float] = (0.5, 0.1, 0.4)  # paper: types 2, 3 and 4


class Model(NamedTuple):
    demand: Demand = Demand()
    driving: Driving = Driving()
    mishap: Mishap = Mishap()
    asking: Requests = Requests()
