"""What a report costs Aurora: in one process and in two, under light load, and next to System X."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any

import numpy as np

from polling_baseline.batch import Batch
from polling_baseline.database.claim import claim_database
from polling_baseline.database.embedded.server import ensure_running
from polling_baseline.database.settings import OFF
from polling_baseline.engine import Engine
from polling_baseline.engines.aurora.engine import Aurora
from polling_baseline.engines.aurora.linear_road.history import SmallHistory
from polling_baseline.engines.system_x.polling import Polling
from tests.bench.polling import MEASURED_S, WARM_UP_S, empty_history, traffic

COMPARED = 50_000
TARGET_US, TARGET_RATE, TARGET_LIGHT_MS = 1.5, 1_000_000, 50


def main() -> None:
    one, _ = _cost("one worker", _aurora(1), COMPARED)
    _cost("two workers", _aurora(2), 200_000)
    print(f"    to keep: {TARGET_US} us per report and worker, {TARGET_RATE:,} reports/s with two workers")
    for workers in (1, 2):
        _light(workers)
    _compare(one)


def _aurora(workers: int) -> Aurora:
    return Aurora(SmallHistory({}, []), workers)


def _cost(what: str, engine: Engine, reports: int) -> tuple[float, dict[str, float]]:
    """Microseconds per report of one worker, over a whole minute with its end; and the mean of each step in ms."""
    engine.install()
    batches = traffic(reports, engine.workers, WARM_UP_S + MEASURED_S)
    for _ in range(WARM_UP_S):
        _process(engine, next(batches))
    before = engine.measured() if isinstance(engine, Aurora) else None
    took, steps = zip(*(_process(engine, batch) for batch in batches), strict=True)
    after = engine.measured() if isinstance(engine, Aurora) else None
    engine.stop()
    mean_s = float(np.mean(took))
    cost_us = mean_s / reports * engine.workers * 1e6
    print(
        f"{what}, {reports:,} reports in a second: {cost_us:.2f} us per report and worker, {reports / mean_s:,.0f} "
        f"reports/s; median {np.median(took) * 1000:.1f} ms, slowest second {max(took) * 1000:.0f} ms"
    )
    if before and after:
        processor_us = (after["processor_s"] - before["processor_s"]) / (reports * MEASURED_S) * 1e6
        print(f"    {processor_us:.2f} us of processor time per report: the rest is waiting for a busy machine")
        per_report = _by_group(before, after, reports * MEASURED_S)
        print("    us in boxes: " + ", ".join(f"{group} {us:.3f}" for group, us in per_report.items()))
    return cost_us, {name: float(np.mean([step[name] for step in steps])) for name in steps[0]}


def _process(engine: Engine, batch: Batch) -> tuple[float, Any]:
    started = time.perf_counter()
    steps = engine.process(batch)
    took = time.perf_counter() - started
    for _ in engine.answers():
        pass
    return took, steps


def _by_group(before: dict[str, Any], after: dict[str, Any], reports: int) -> dict[str, float]:
    """Microseconds per report in the boxes of each subnetwork."""
    found: dict[str, float] = defaultdict(float)
    start = {box["name"]: box["seconds"] for box in before["boxes"]}
    for box in after["boxes"]:
        found[box["group"] or "inputs and outputs"] += (box["seconds"] - start[box["name"]]) / reports * 1e6
    return dict(found)


def _light(workers: int) -> None:
    """One expressway at its peak: how long after a second is complete are its answers there?"""
    engine = _aurora(workers)
    engine.install()
    took = [_process(engine, batch)[0] * 1000 for batch in traffic(2_000 * workers, workers, 125)]
    engine.stop()
    print(
        f"L = {workers}, {workers} worker{'s' * (workers > 1)}: answers {np.median(took):.1f} ms after the second is "
        f"complete, p99 {np.percentile(took, 99):.1f} ms, at most {max(took):.1f} ms (to keep: {TARGET_LIGHT_MS} ms)"
    )


def _compare(aurora_us: float) -> None:
    target = ensure_running(OFF).target
    empty_history(target)
    polling_us, steps = _cost("System X, one worker", Polling(claim_database(target, "bench"), 1, OFF), COMPARED)
    total = sum(steps.values())
    parts = ", ".join(f"{name.removesuffix('_ms')} {ms / total:.0%}" for name, ms in steps.items())
    print(f"    of which {parts}")
    print(f"System X costs {polling_us / aurora_us:.1f} times as much per report as Aurora")


if __name__ == "__main__":
    main()
