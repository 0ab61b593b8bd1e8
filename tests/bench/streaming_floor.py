"""What the floor of a micro-batch consists of: by Spark's own account of each trigger, and by the clock around it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from driver.spark.session import close
from polling_baseline.engines.structured_streaming import history as kept
from polling_baseline.engines.structured_streaming.columns import REPORTS
from polling_baseline.engines.structured_streaming.engine import XWAY_PAGES, Options
from polling_baseline.engines.structured_streaming.shard import process
from polling_baseline.engines.structured_streaming.sharding import shared_out
from polling_baseline.engines.structured_streaming.state import InMemory
from tests.bench.duckdb import History, history_files, with_requests
from tests.bench.polling import REPORTS_PER_XWAY, traffic
from tests.bench.streaming import streaming_engine

LOADS = (2_000, 100_000)
RING_S, MEASURED_S = 30, 28
NO_HISTORY = kept.History()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        history = history_files(Path(folder))
        for load in LOADS:
            for shards in (1, 2):
                _floor(load, shards, history)
    close(in_haste=True)


def _floor(load: int, shards: int, history: History) -> None:
    engine = streaming_engine(history, Options(xways=load / REPORTS_PER_XWAY, shards=shards))
    engine.install()
    steps = []
    for batch in with_requests(traffic(load, 1, RING_S + MEASURED_S)):
        started = time.perf_counter()
        step = engine.process(batch)
        for _ in engine.answers():
            pass
        steps.append({**step, "batch_ms": 1000 * (time.perf_counter() - started)})
    # Its log has the batch when the next one waits already.
    time.sleep(2)
    triggers = [parts_of(trigger) for trigger in engine._query._query.recentProgress if trigger["numInputRows"]]
    engine.stop()
    clock, spark = _medians(steps[RING_S:]), _medians(triggers[-MEASURED_S:])
    rules_ms, _ = rules_alone(load)
    between = clock["stream_ms"] - sum(spark[name] for name in ("planning", "offsets", "batch"))
    print(
        f"{load:,} reports, {shards} shards: a batch {clock['batch_ms']:.0f} ms\n"
        f"    driver: share out and write {clock['share_ms']:.0f}\n"
        f"    source: until Spark has the batch, and between triggers {between:.0f}\n"
        f"    Spark's trigger: planning {spark['planning']:.0f}, log of offsets {spark['offsets']:.0f}, "
        f"tasks and sink {spark['batch']:.0f}; after the sink, log of commits {spark['commits']:.0f}\n"
        f"    in the tasks, shards added up: Python and its state {spark['updates']:.0f}, "
        f"of which the rules {rules_ms:.0f}; commit of the state {spark['commit']:.0f}",
        flush=True,
    )


def parts_of(trigger: Mapping[str, Any]) -> dict[str, float]:
    """What Spark says of one trigger, in milliseconds."""
    took, [state] = trigger["durationMs"], trigger["stateOperators"]
    return {
        "planning": took["queryPlanning"] + took.get("getBatch", 0),
        "offsets": took["walCommit"],
        "batch": took["addBatch"],
        "commits": took.get("commitBatch", 0) + took.get("commitOffsets", 0),
        "updates": state["allUpdatesTimeMs"],
        "commit": state["commitTimeMs"],
    }


def _medians(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.median([row[name] for row in rows])) for name in rows[0]}


def rules_alone(load: int) -> tuple[float, float]:
    """Processor milliseconds of a batch without Spark, once the ring is full: by the rules, and to share it out."""
    state, took = InMemory(), []
    pages = XWAY_PAGES * max(1, load // REPORTS_PER_XWAY)
    for batch in traffic(load, 1, RING_S + MEASURED_S):
        started = time.process_time()
        for part in shared_out(batch, 2):
            REPORTS.pack(part.reports)
        shared = time.process_time()
        [work] = shared_out(batch, 1)
        begun = time.process_time()
        process(state, work, NO_HISTORY, pages)
        took.append({"rules": 1000 * (time.process_time() - begun), "sharing": 1000 * (shared - started)})
    medians = _medians(took[RING_S:])
    return medians["rules"], medians["sharing"]


if __name__ == "__main__":
    main()
