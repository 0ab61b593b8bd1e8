"""`python -m tests.support.stream_on_cluster MASTER PYTHON FOLDER WORKER...`: engine structured_streaming on a cluster.

First its workers have a Python without packages, and none.  Then a random road goes through it, and on the way
executors and workers, known by their process numbers, are killed.  Prints what came of it as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import psutil

from driver.spark.session import close, session
from polling_baseline.engine import EngineFailure
from polling_baseline.engines.structured_streaming.cluster import check_workers
from polling_baseline.engines.structured_streaming.engine import Options
from polling_baseline.refusal import Refusal
from tests.engines.feeding import Answer, Road, batches
from tests.engines.test_structured_streaming import rows_of, streaming
from tests.support import oracle
from tests.support.random_road import random_history, random_lines

SEED, MINUTES = 5, 4
# Before which batch dies what: an executor, whose worker starts another one, or a worker with its executor.
KILLED_AT = {3: "executor", 5: "executor", 7: "worker", 9: "worker"}


def refusal_of(spark: Any, python: str) -> str:
    """What a run would say if this were the workers' Python."""
    context = spark.sparkContext
    usual, context.pythonExec = context.pythonExec, python
    try:
        check_workers(spark)
    except (Refusal, EngineFailure) as refusal:
        return str(refusal)
    finally:
        context.pythonExec = usual
    return ""


def kill(what: str, workers: list[int]) -> None:
    """A worker with all that runs for it, from the front; or an executor, whose worker lives on, from the back."""
    if what == "worker":
        os.killpg(workers.pop(0), signal.SIGKILL)
        return
    workers.insert(1, workers.pop())
    # All that a worker starts itself are executors.
    children = psutil.Process(workers[1]).children()
    [executor] = [process for process in children if process.status() != psutil.STATUS_ZOMBIE]
    executor.kill()


def main(master: str, python: str, folder: str, *numbers: str) -> None:
    spark, workers = session(master), [int(number) for number in numbers]
    refused = [refusal_of(spark, name) for name in (python, "/no/such/python")]
    road = Road(random_lines(SEED, minutes=MINUTES), *random_history(SEED))
    right = Counter(oracle.answers(road.lines, road.toll_history, road.segment_history))
    engine = streaming(spark, road, Path(folder), Options(shards=2, warm_up_s=0))
    found: Counter[Answer] = Counter()
    killed: list[str] = []
    try:
        engine.install()
        for number, batch in enumerate(batches(road.lines, 1, 29)):
            if number in KILLED_AT:
                kill(KILLED_AT[number], workers)
                killed.append(KILLED_AT[number])
            engine.process(batch)
            found += rows_of(engine)
        facts = engine.facts()
    finally:
        engine.stop()
        close(in_haste=True)
    missing, extra = list((right - found).elements()), list((found - right).elements())
    said = {"refused": refused, "killed": killed, "missing": missing, "extra": extra}
    print(json.dumps({**said, "answers": found.total(), "facts": facts}))


if __name__ == "__main__":
    main(*sys.argv[1:])
