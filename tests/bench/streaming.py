"""What a micro-batch of Spark Structured Streaming costs: its floor, each report, the end of a minute, each setting."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from driver.spark.session import close, session
from polling_baseline import spec
from polling_baseline.engines.structured_streaming.engine import Options, StructuredStreaming
from polling_baseline.engines.structured_streaming.query import SETTINGS
from tests.bench.duckdb import History, history_files, with_requests
from tests.bench.polling import traffic

FEW, MANY = 2_000, 100_000
# The ring is full, and Java warm; then a whole minute.
WARM_UP_S, MEASURED_S, SETTING_S = 35, 60, 40


@dataclass(frozen=True, slots=True)
class Cost:
    """The median of a minute's batches, and the mean of their processor time with the minute's end, in milliseconds."""

    wall_ms: float
    cpu_ms: float


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        history = history_files(Path(folder))
        costs = {(shards, reports): _cost(reports, shards, history) for shards in (1, 2) for reports in (FEW, MANY)}
        _sum_up(costs)
        _settings(history)
    close(in_haste=True)


def _sum_up(costs: dict[tuple[int, int], Cost]) -> None:
    for shards in (1, 2):
        cpu_us = (costs[shards, MANY].cpu_ms - costs[shards, FEW].cpu_ms) / (MANY - FEW) * 1000
        print(f"{shards} shards: each report more takes {cpu_us:.2f} us of processor", flush=True)


def _cost(reports: int, shards: int, history: History) -> Cost:
    engine = streaming_engine(history, Options(xways=reports / FEW, shards=shards, warm_up_s=10))
    engine.install()
    walls, cpus, ends = [], [], []
    for batch in with_requests(traffic(reports, 1, WARM_UP_S + MEASURED_S)):
        cpu, started = _cpu_s(), time.perf_counter()
        engine.process(batch)
        for _ in engine.answers():
            pass
        took = time.perf_counter() - started
        if batch.seconds[0] >= WARM_UP_S:
            walls.append(took)
            cpus.append(_cpu_s() - cpu)
            # The last second of a minute sums it up, the first one of the next makes its tolls.
            if (batch.seconds[0] + 1) % spec.MINUTE_S < 2:
                ends.append(took)
    size = engine.facts()["checkpoint_bytes"]
    engine.stop()
    cost = Cost(1000 * float(np.median(walls)), 1000 * float(np.mean(cpus)))
    print(
        f"{reports:,} reports in a second, {shards} shards: median {cost.wall_ms:.0f} ms, "
        f"slowest {max(walls) * 1000:.0f} ms, minute's end {max(ends) * 1000:.0f} ms; "
        f"{cost.cpu_ms:.0f} ms of processor, minute's end included; checkpoint {size / 2**20:.0f} MB",
        flush=True,
    )
    return cost


def streaming_engine(history: History, options: Options) -> StructuredStreaming:
    return StructuredStreaming(lambda: session("local[2]", steady=True), *history, options)


def _settings(history: History) -> None:
    """What each setting is worth: all of them, and all but one."""
    # Without RocksDB there is no transformWithState, and what is not tracked in it needs no setting.
    needed = "spark.sql.streaming.stateStore.providerClass"
    for left_out in (None, *(name for name in SETTINGS if name != needed)):
        settings = {name: value for name, value in SETTINGS.items() if name != left_out}
        engine = streaming_engine(history, Options(shards=2, warm_up_s=20, settings=settings))
        engine.install()
        walls, cpu = [], _cpu_s()
        for batch in with_requests(traffic(FEW, 1, SETTING_S)):
            started = time.perf_counter()
            engine.process(batch)
            walls.append(time.perf_counter() - started)
        cpu_ms = 1000 * (_cpu_s() - cpu) / SETTING_S
        engine.stop()
        label = f"without {left_out.removeprefix('spark.sql.')}" if left_out else "all settings"
        print(f"{label}: median {1000 * np.median(walls):.0f} ms, {cpu_ms:.0f} ms of processor", flush=True)


def _cpu_s() -> float:
    """What this process and all that it has started have used."""
    total = 0.0
    me = psutil.Process()
    for process in (me, *me.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


if __name__ == "__main__":
    main()
