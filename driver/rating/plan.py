"""How many expressways a cluster should hold: arithmetic from costs that were measured on one machine.

A forecast, not a measurement: it takes for granted that all cores are as fast as the measured ones, and that neither
the network nor the shared storage is the limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from polling_baseline import spec

# What one expressway reports in a second at its busiest.
REPORTS_PER_XWAY = 2000


@dataclass(frozen=True, slots=True)
class Costs:
    """Of one engine: seconds per batch however small, and seconds per report, on the driver and in the shards."""

    floor_s: float
    driver_s: float
    shard_s: float
    # Machine, date, command.
    source: str


@dataclass(frozen=True, slots=True)
class Forecast:
    """What so many cores should hold, and the numbers on the way there."""

    cores: int
    report_s: float
    # Of each second, what is left for reports when the floor of the longest batch is paid.
    share: float
    reports_per_s: float
    xways: int
    # What the driver alone would allow, however many cores there are.
    most_xways: int


# What `python -m tests.bench streaming` printed; `streaming_scale` tells the two parts of a report apart.
# Two shards were not measurably faster than one, so what a report costs of processor is taken to be spent one after the
# other, and nothing of it to be shared: the careful reading.
MEASURED = {
    "structured_streaming": Costs(
        0.241, 0.69e-6, 0.0, "2 cores, 24 GiB, shared with other work, 18 November 2026, a single reading at 1c8bce8"
    ),
}


def longest_batch_s() -> float:
    """A report waits at most for the batch under way, and then for its own, which is as long."""
    return min(spec.DEADLINE_S.values()) / 2


def forecast(costs: Costs, cores: int) -> Forecast:
    """With a shard per core, and batches that grow until the first answer would be late."""
    share = 1 - costs.floor_s / longest_batch_s()
    report_s = costs.driver_s + costs.shard_s / cores
    reports_per_s = share / report_s
    most = share / costs.driver_s
    return Forecast(
        cores,
        report_s,
        share,
        reports_per_s,
        math.floor(reports_per_s / REPORTS_PER_XWAY),
        math.floor(most / REPORTS_PER_XWAY),
    )
