"""Whether a second worker helps the stream engine: clusters of one and of two workers, each pinned to its own core.

The last line has the numbers that `lrb plan` counts with.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil

from driver.spark.cluster import Cluster, start_cluster, stop_cluster
from driver.spark.session import close, session
from polling_baseline import spec
from polling_baseline.engines.structured_streaming.engine import Options, StructuredStreaming
from tests.bench.duckdb import History, history_files, with_requests
from tests.bench.polling import REPORTS_PER_XWAY, traffic
from tests.bench.streaming_floor import rules_alone

FEW, SOME, MANY = 2_000, 40_000, 400_000
# The ring is full then, and no minute ends while the clock runs.
RING_S, MEASURED_S = spec.REPORT_PERIOD_S, 25
MEMORY_MB = 2048
# What a batch may take: as long as what it holds, and as long as no answer is late.
BATCH_S = 1.0


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        history = history_files(Path(folder))
        walls = {workers: _walls_ms(workers, history) for workers in (1, 2)}
    rules_ms, sharing_ms = rules_alone(MANY)
    held = {workers: _capacity(by_load) for workers, by_load in walls.items()}
    for workers, (floor_ms, report_us, reports) in held.items():
        print(
            f"{workers} workers: floor {floor_ms:.0f} ms, then {report_us:.3f} us a report; "
            f"a batch of {BATCH_S:g} s holds {reports:,.0f} reports, L = {reports / REPORTS_PER_XWAY:.0f}"
        )
    print(f"{MANY:,} reports without Spark: rules {rules_ms:.0f} ms of processor, sharing out {sharing_ms:.0f} ms")
    faster = ", ".join(f"{load:,} reports {walls[1][load] / walls[2][load]:.2f}" for load in walls[1])
    print(f"two workers against one, by the time of a batch: {faster}; by what a batch holds: {_ratio(held):.2f}")
    one, two = held[1][1], held[2][1]
    print(
        f"for lrb plan: floor {held[2][0]:.0f} ms; a report {2 * two - one:.3f} us one after the other, "
        f"{2 * (one - two):.3f} us shared by the shards",
        flush=True,
    )


def _capacity(walls_ms: dict[int, float]) -> tuple[float, float, float]:
    """Milliseconds of the floor, microseconds of a report, and how many reports a batch holds."""
    report_us = 1000 * (walls_ms[MANY] - walls_ms[FEW]) / (MANY - FEW)
    floor_ms = walls_ms[FEW] - FEW * report_us / 1000
    return floor_ms, report_us, (1000 * BATCH_S - floor_ms) * 1000 / report_us


def _ratio(held: dict[int, tuple[float, float, float]]) -> float:
    return held[2][2] / held[1][2]


def _walls_ms(workers: int, history: History) -> dict[int, float]:
    """The median batch of each load; so many one-core workers, a shard on each."""
    with _pinned_cluster(workers) as cluster:
        return {load: _wall_ms(cluster, load, history) for load in (FEW, SOME, MANY)}


@contextmanager
def _pinned_cluster(workers: int) -> Iterator[Cluster]:
    """A cluster in a state folder of its own; what a worker starts stays on the worker's core."""
    before = os.environ.get("LRB_STATE")
    with tempfile.TemporaryDirectory() as state:
        os.environ["LRB_STATE"] = state
        try:
            cluster = start_cluster(workers, 1, MEMORY_MB)
            cores = sorted(os.sched_getaffinity(0))
            for number, process in enumerate(cluster.processes[1:]):
                for thread in psutil.Process(process.pid).threads():
                    os.sched_setaffinity(thread.id, {cores[number % len(cores)]})
            yield cluster
        finally:
            close(in_haste=True)
            stop_cluster()
            del os.environ["LRB_STATE"]
            if before is not None:
                os.environ["LRB_STATE"] = before


def _wall_ms(cluster: Cluster, load: int, history: History) -> float:
    options = Options(xways=load / REPORTS_PER_XWAY, shards=cluster.workers)
    engine = StructuredStreaming(lambda: session(cluster.master, steady=True), *history, options)
    engine.install()
    walls = []
    for batch in with_requests(traffic(load, 1, RING_S + MEASURED_S)):
        started = time.perf_counter()
        engine.process(batch)
        for _ in engine.answers():
            pass
        walls.append(1000 * (time.perf_counter() - started))
    engine.stop()
    measured = walls[RING_S:]
    wall_ms = float(np.median(measured))
    print(
        f"{cluster.workers} workers, {load:,} reports: median {wall_ms:.0f} ms, "
        f"from {min(measured):.0f} to {max(measured):.0f} ms",
        flush=True,
    )
    return wall_ms


if __name__ == "__main__":
    main()
