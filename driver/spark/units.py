"""Work in independent units, one Spark task each, with a progress that the tasks report through small files.

A unit's file grows by a byte per step of its work; files are what the driver shares with the tasks anyway.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from driver.progress import Advance
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WATCH_PERIOD_S = 0.2
CANCEL_S = 10

Unit = TypeVar("Unit")
Result = TypeVar("Result")


def for_each(
    spark: SparkSession,
    units: Sequence[Unit],
    work: Callable[[Unit, Path], Result],
    progress_folder: Path,
    advance: Advance,
) -> list[Result]:
    """What `work(unit, progress_path)` gives for each of the units, in their order."""
    if not units:
        return []
    numbered = list(enumerate(units))
    seen = 0

    def task(numbered_unit: tuple[int, Unit]) -> Result:
        number, unit = numbered_unit
        try:
            return work(unit, progress_folder / str(number))
        except Refusal as refusal:
            # By this name `_refusal_in` finds it, whichever kind it is.
            raise Refusal(str(refusal)) from None

    def watch() -> None:
        nonlocal seen
        now = sum(path.stat().st_size for path in progress_folder.iterdir())
        advance(now - seen)
        seen = now

    progress_folder.mkdir()
    try:
        tasks = spark.sparkContext.parallelize(numbered, len(numbered)).map(task)
        return run_job(spark, tasks.collect, watch)
    finally:
        shutil.rmtree(progress_folder, ignore_errors=True)


def run_job(spark: SparkSession, job: Callable[[], Result], watch: Callable[[], None] = lambda: None) -> Result:
    """The result of a job that runs in a thread of its own, so that this one can be interrupted; that ends the job."""
    from pyspark import InheritableThread

    result: Future[Result] = Future()

    def run() -> None:
        try:
            result.set_result(job())
        except BaseException as error:
            result.set_exception(error)

    thread = InheritableThread(target=run, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(WATCH_PERIOD_S)
            watch()
    except BaseException:
        spark.sparkContext.cancelAllJobs()
        thread.join(CANCEL_S)
        raise
    with refusing():
        return result.result()


@contextmanager
def refusing() -> Iterator[None]:
    """What a task refused is refused here."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        raise _refusal_in(error) or error from None


def step(progress_path: Path, steps: int) -> None:
    """Say that so many steps more of a unit are done, if the driver's folder can be seen from here."""
    with suppress(FileNotFoundError), progress_path.open("ab") as file:
        file.write(b"." * steps)


def _refusal_in(error: Exception) -> Refusal | None:
    """The refusal that a task ended with; a file that could not be written or read is one, too."""
    if match := re.search(r"\bRefusal: (.+)", str(error)):
        return Refusal(match[1])
    if match := re.search(r"\[Errno \d+\] (.+)", str(error)):
        return Refusal(f"{match[1]}; nothing was changed")
    return None
