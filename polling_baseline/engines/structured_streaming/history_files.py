"""The history's arrays, made by Spark's tasks in a folder that every worker sees."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from polling_baseline.engine import EngineFailure
from polling_baseline.engines.structured_streaming.failures import sentence_of
from polling_baseline.engines.structured_streaming.history import keep_segments, keep_tolls

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A file of tolls and its number, or the files of an expressway's segments.
Task = tuple[int, str] | list[str]


def keep_history(spark: SparkSession, tolls: Sequence[Path], segments: Sequence[Path], folder: Path) -> None:
    """Leave the arrays of these files in the folder."""
    by_xway: dict[str, list[str]] = {}
    for path in segments:
        by_xway.setdefault(path.name.rsplit("-week", 1)[0], []).append(str(path.absolute()))
    tasks: list[Task] = [*by_xway.values(), *((number, str(path.absolute())) for number, path in enumerate(tolls))]
    if tasks:
        try:
            spark.sparkContext.parallelize(tasks, len(tasks)).foreach(partial(_keep, str(folder)))
        except Exception as error:
            raise EngineFailure(sentence_of(str(error), folder)) from error


def _keep(folder: str, task: Task) -> None:
    if isinstance(task, list):
        keep_segments([Path(name) for name in task], Path(folder))
    else:
        number, name = task
        keep_tolls(Path(name), Path(folder) / f"toll-{number:05d}")
