"""`python -m tests.support.stream_on_cluster MASTER WORKER PYTHON FOLDER`: engine structured_streaming on a cluster.

First its workers have a Python without packages.  Then a random road goes through it, and halfway the worker with that
process number is killed.  Prints what came of it as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path

from driver.spark.session import close, session
from polling_baseline.engines.structured_streaming.cluster import check_workers
from polling_baseline.engines.structured_streaming.engine import Options
from polling_baseline.refusal import Refusal
from tests.engines.feeding import Answer, Road, batches
from tests.engines.test_structured_streaming import rows_of, streaming
from tests.support import oracle
from tests.support.random_road import random_history, random_lines

SEED, MINUTES, KILLED_AT = 5, 3, 4


def refusal_of_bare_workers(spark: object, python: str) -> str:
    context = spark.sparkContext
    usual, context.pythonExec = context.pythonExec, python
    try:
        check_workers(spark)
    except Refusal as refusal:
        return str(refusal)
    finally:
        context.pythonExec = usual
    return ""


def main(master: str, worker: str, python: str, folder: str) -> None:
    spark = session(master)
    refused = refusal_of_bare_workers(spark, python)
    road = Road(random_lines(SEED, minutes=MINUTES), *random_history(SEED))
    right = Counter(oracle.answers(road.lines, road.toll_history, road.segment_history))
    engine = streaming(spark, road, Path(folder), Options(shards=2, warm_up_s=0))
    found: Counter[Answer] = Counter()
    try:
        engine.install()
        for number, batch in enumerate(batches(road.lines, 1, 29)):
            if number == KILLED_AT:
                os.killpg(int(worker), signal.SIGKILL)
            engine.process(batch)
            found += rows_of(engine)
        facts = engine.facts()
    finally:
        engine.stop()
        close(in_haste=True)
    missing, extra = list((right - found).elements()), list((found - right).elements())
    said = {"refused": refused, "missing": missing, "extra": extra, "answers": found.total(), "facts": facts}
    print(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:])
