"""What the workers of a Spark have, and what they lack: asked before a run, said in a sentence."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from polling_baseline.engine import EngineFailure
from polling_baseline.engines.structured_streaming.failures import missing_package, sentence_of
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What a worker must be able to import.
PACKAGES = ("numpy", "pandas", "pyarrow", "google.protobuf", "polling_baseline")
PATIENCE_S = 60.0


def is_local(spark: SparkSession) -> bool:
    return spark.sparkContext.master.startswith("local")


def cores_of(spark: SparkSession) -> int:
    """All cores that there are; a cluster may take a moment to offer some."""
    if is_local(spark):
        return spark.sparkContext.defaultParallelism
    deadline = time.monotonic() + PATIENCE_S
    while not (cores := _offered(spark)):
        if time.monotonic() > deadline:
            raise Refusal(
                f"no worker of {spark.sparkContext.master} has offered a core in {PATIENCE_S:.0f} s: they are busy "
                "with other applications, or have less memory than this one asks for; its page shows which"
            )
        time.sleep(0.2)
    # Others may come a moment later than the first.
    time.sleep(1.0)
    return max(cores, _offered(spark))


def _offered(spark: SparkSession) -> int:
    executors: Any = spark.sparkContext._jsc.sc().statusStore().executorList(True)
    listed = (executors.apply(number) for number in range(executors.size()))
    return sum(int(executor.totalCores()) for executor in listed if executor.id() != "driver")


def check_workers(spark: SparkSession) -> None:
    """Refuse workers that lack a package; on this machine they have what this process has."""
    if is_local(spark):
        return

    # Within a function: so it travels by itself, and asks for our packages only when it is there.
    def lacks(_: Iterator[int]) -> Iterator[str]:
        import importlib

        for name in PACKAGES:
            try:
                importlib.import_module(name)
            except ImportError:
                yield name

    context = spark.sparkContext
    everywhere = range(context.defaultParallelism)
    try:
        lacking = set(context.parallelize(everywhere, len(everywhere)).mapPartitions(lacks).collect())
    except Exception as error:
        raise EngineFailure(sentence_of(str(error), context.master)) from error
    if lacking:
        raise Refusal(missing_package(next(name for name in PACKAGES if name in lacking)))
