"""Static analysis: does a machine of this size hold so much load, and what gives way first?

Each box has a cost per train, measured on a network that is nearly idle, and beyond that a cost c(b) per tuple and a
selectivity s(b), measured under load.  From the rates of the inputs, box by box, follows what a second of input
costs.
"""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polling_baseline import spec
from polling_baseline.batch import REPORT_COLUMNS, REQUEST_COLUMNS, Share
from polling_baseline.engines.aurora.inspect.network_data import network_facts
from polling_baseline.engines.aurora.linear_road.history import History, SegmentSums
from polling_baseline.engines.aurora.linear_road.network import REPORTS, REQUESTS
from polling_baseline.engines.aurora.linear_road.vehicles import SPAN_S
from polling_baseline.engines.aurora.model.hashing import capacity_for
from polling_baseline.engines.aurora.node import Node, Options
from polling_baseline.engines.aurora.warm_up import warm_up

# The specification's volumes: 12 M reports, 120,000 requests, 150,000 vehicles; and an expressway's densest traffic.
REQUESTS_PER_REPORT = 120_000 / 12_000_000
VEHICLES = 150_000
PAYING = 0.6  # of the vehicles, and of those on the road at a time: those that meet a toll
PEAK_RATES = (2_000, 2_500)
# What may be used of processors and memory; the rest is for what no box does, and for the odd second.
HEADROOM = 0.8
# Bytes: per slot of the table of vehicles, for each second that it keeps; per report of a minute, at the connection
# point and in the statistics; and per report of input.  Of that the driver has a minute at hand or in the making, which
# takes as much again; and where the clock does not wait, both of them and one that is ready.
SLOT_BYTES, POINT_BYTES, STATISTICS_BYTES, INPUT_BYTES = 12, 28, 50, 20
AMOUNT_BYTES = 20  # per slot of accounts and of what trips owe: 16, and a quarter more while the table grows
INPUT_MINUTES = {"virtual": 2, "real": 4}
PROCESS_BYTES = 240_000_000  # of an interpreter with all it imports
HISTORY_BYTES = 140_000_000  # of an expressway, 69 days
# More than a minute, so that a minute's end is in it; tables that do not fit into a cache.
LIGHT, HEAVY, CALIBRATION_S = 20, 60_000, 65


@dataclass(frozen=True, slots=True)
class Costs:
    """What was measured: seconds per train of each box, facts under load, seconds to hand a report over."""

    train_s: Mapping[str, float]
    loaded: Mapping[str, Any]
    hand_over_s: float


@dataclass(frozen=True, slots=True)
class Load:
    """Of one expressway: reports per second, and vehicles by the end; `distinct` have a history of their own."""

    rate: float
    vehicles: float = VEHICLES
    distinct: float | None = None
    clock: str = "virtual"


@dataclass(frozen=True, slots=True)
class Forecast:
    """What one worker needs for a second of input, in seconds, by box; what the machine needs; and where it ends."""

    xways: float
    rate: float
    workers: int
    box_s: Mapping[str, float]
    worker_s: float
    cores_s: float
    memory_bytes: float


def calibrate() -> Costs:
    """Measure this machine, in a few seconds: an idle network, then a busy one."""
    warm_up(alone=True)
    light, heavy = (_measured(reports) for reports in (LIGHT, HEAVY))
    return Costs(train_costs(light), heavy, _hand_over_s())


def with_run(costs: Costs, run: Mapping[str, Any]) -> Costs:
    """The same machine, with the cost per tuple and the selectivities of a run."""
    return Costs(costs.train_s, run, costs.hand_over_s)


def train_costs(network: Mapping[str, Any]) -> dict[str, float]:
    return {box["name"]: box["seconds"] / box["trains"] if box["trains"] else 0.0 for box in network["boxes"]}


def forecast(costs: Costs, xways: float, load: Load, workers: int) -> Forecast:
    per_worker = load.rate * xways / workers
    rates = tuple_rates(costs.loaded, {REPORTS: per_worker, REQUESTS: per_worker * REQUESTS_PER_REPORT})
    box_s = {}
    for box in costs.loaded["boxes"]:
        train_s = costs.train_s.get(box["name"], 0.0)
        beyond_s = max(0.0, box["seconds"] - train_s * box["trains"])
        tuple_s = beyond_s / box["tuples_in"] if box["tuples_in"] else 0.0
        box_s[box["name"]] = train_s + tuple_s * rates[box["name"]]
    hand_over_s = costs.hand_over_s * per_worker if workers > 1 else 0.0
    worker_s = sum(box_s.values()) + hand_over_s
    cores_s = workers * (worker_s + hand_over_s)
    return Forecast(xways, load.rate, workers, box_s, worker_s, cores_s, memory_bytes(xways, load, workers))


def memory_bytes(xways: float, load: Load, workers: int) -> float:
    """At the end of a run, when all have paid who will, and as many as ever are on the road."""
    second, trips, accounts = (
        capacity_for(math.ceil(rows * xways / workers))
        for rows in (load.rate, PAYING * load.rate * spec.REPORT_PERIOD_S, PAYING * load.vehicles)
    )
    minute_bytes = POINT_BYTES + STATISTICS_BYTES + INPUT_MINUTES[load.clock] * INPUT_BYTES
    return (
        workers * (SPAN_S * SLOT_BYTES * second + AMOUNT_BYTES * (trips + accounts))
        + spec.MINUTE_S * load.rate * xways * minute_bytes
        + min(load.distinct or xways, xways) * HISTORY_BYTES
        + (workers + 1) * PROCESS_BYTES
    )


def tuple_rates(network: Mapping[str, Any], inputs: Mapping[str, float]) -> dict[str, float]:
    """Tuples per second into each box, when so many come in."""
    selectivity = {
        box["name"]: box["tuples_out"] / box["tuples_in"] if box["tuples_in"] else 0.0 for box in network["boxes"]
    }
    rates = dict.fromkeys(selectivity, 0.0) | dict(inputs)
    waiting = {name: sum(target == name for _, target, _ in network["arrows"]) for name in selectivity}
    ready = [name for name, arrows in waiting.items() if not arrows]
    while ready:
        name = ready.pop()
        for source, target, _ in network["arrows"]:
            if source == name:
                rates[target] += rates[name] * selectivity[name]
                waiting[target] -= 1
                if not waiting[target]:
                    ready.append(target)
    return rates


def limits(costs: Costs, load: Load, cores: int, memory: float) -> dict[str, float]:
    """The largest L that each resource allows, in steps of half an expressway."""

    def largest(fits: Callable[[Forecast], bool]) -> float:
        low, high = 0, 2 * spec.MAX_XWAYS + 1
        while high - low > 1:
            middle = (low + high) // 2
            fitting = fits(forecast(costs, middle / 2, load, cores))
            low, high = (middle, high) if fitting else (low, middle)
        return low / 2

    return {
        "a worker's second": largest(lambda cast: cast.worker_s <= HEADROOM),
        "the processors": largest(lambda cast: cast.cores_s <= HEADROOM * cores),
        "memory": largest(lambda cast: cast.memory_bytes <= HEADROOM * memory),
    }


def _measured(reports: int) -> dict[str, Any]:
    node = Node(_history(), True, Options())
    for second, share in enumerate(_traffic(reports, CALIBRATION_S)):
        node.feed(range(second, second + 1), share)
        node.finish()
    return network_facts(node)


def _history() -> History:
    """A few hours of one weekday of one expressway: enough for journeys."""
    minutes = np.arange(1, 4 * spec.MINUTE_S + 1)
    way, minute, seg = (part.ravel() for part in np.meshgrid((0, 1), minutes, range(spec.SEGMENTS), indexing="ij"))
    sums = SegmentSums()
    day = np.full(len(seg), spec.WEEK_DAYS)
    sums.add({"day": day, "minute": minute, "dir": way, "seg": seg, "lav": 35 + seg % 31, "cars": 40 + seg % 23})
    return History((), {0: sums.arrays()})


def _traffic(reports: int, seconds: int) -> Iterator[Share]:
    """Cars in a dense flow: about one report in five is from a new segment, one in eighty begins a trip."""
    rng = np.random.default_rng(1)
    period = spec.REPORT_PERIOD_S
    vehicle = np.arange(reports * period, dtype=np.int32).reshape(period, reports)
    position = rng.integers(0, spec.SEGMENTS * spec.SEGMENT_FT, vehicle.shape).astype(np.int32)
    road = rng.integers(0, 2 * max(1, reports // PEAK_RATES[0]), vehicle.shape)
    free = vehicle.size
    for second in range(seconds):
        group = second % period
        new = np.flatnonzero(rng.random(reports) < 1 / 80)
        vehicle[group, new] = np.arange(free, free + len(new))
        free += len(new)
        position[group] = (position[group] + rng.integers(200, 1500, reports)) % (spec.SEGMENTS * spec.SEGMENT_FT)
        columns = dict.fromkeys(REPORT_COLUMNS, np.full(reports, second, np.int16))
        columns |= {
            "vehicle_id": vehicle[group].copy(),
            "position_ft": position[group].copy(),
            "xway": (road[group] // 2).astype(np.int16),
            "dir": (road[group] % 2).astype(np.int16),
            "seg": (position[group] // spec.SEGMENT_FT).astype(np.int16),
            "speed_mph": rng.integers(5, 60, reports).astype(np.int16),
            "lane": rng.integers(1, 4, reports).astype(np.int16),
        }
        yield Share(columns, _requests(max(1, round(reports * REQUESTS_PER_REPORT)), second, rng))


def _requests(count: int, second: int, rng: np.random.Generator) -> dict[str, Any]:
    wide = {"vehicle_id": np.int32, "query_id": np.int64}
    columns = {name: np.ones(count, wide.get(name, np.int16)) for name in REQUEST_COLUMNS}
    columns["second"][:] = second
    columns["xway"][:] = 0
    columns["from_seg"], columns["to_seg"] = rng.integers(0, spec.SEGMENTS, (2, count)).astype(np.int16)
    columns["kind"] = rng.choice([spec.BALANCE, spec.EXPENDITURE, spec.TRAVEL_TIME], count).astype(np.int16)
    return columns


def _hand_over_s() -> float:
    """Seconds to get a report into another process: packed and unpacked."""
    [share] = _traffic(HEAVY, 1)
    started = time.perf_counter()
    rounds = 20
    for _ in range(rounds):
        pickle.loads(pickle.dumps(share))
    return (time.perf_counter() - started) / rounds / HEAVY
