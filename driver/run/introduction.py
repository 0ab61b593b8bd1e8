"""What a foreign system is told before the first second; `docs/your-own-system.md` explains each key."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from driver.dataset.export import SEGMENT_NAME, TOLL_NAME, export_history
from driver.dataset.folder import Dataset
from driver.progress import progress
from driver.run.config import RunConfig

FORMAT = 1


class Introduction(TypedDict):
    """The first line."""

    format: int
    benchmark: str
    dataset: str
    xways: float
    first_second: int
    last_second: int
    clock: str
    marks: bool
    # Paths of files, all of the one kind or all of the other: CSV without a head line, or Parquet.
    history: str
    toll_history: list[str]
    segment_history: list[str]


def introduce(config: RunConfig, dataset: Dataset, folder: Path) -> Introduction:
    """The first line of this run; history as CSV is written to the folder."""
    kind = config.engine_options["history"]
    if kind == "csv":
        files = [*dataset.toll_history, *dataset.segment_history]
        with progress("history as CSV", max(1, sum(path.stat().st_size for path in files))) as advance:
            export_history(dataset, folder, advance)
        tolls, segments = ([path] if path.exists() else [] for path in (folder / TOLL_NAME, folder / SEGMENT_NAME))
    else:
        tolls, segments = dataset.toll_history, dataset.segment_history
    return {
        "format": FORMAT,
        "benchmark": "Linear Road",
        "dataset": dataset.name,
        "xways": dataset.xways,
        "first_second": config.seconds.start,
        "last_second": config.seconds[-1],
        "clock": config.clock,
        "marks": config.engine_options["marks"] == "on",
        "history": kind,
        "toll_history": [str(path.absolute()) for path in tolls],
        "segment_history": [str(path.absolute()) for path in segments],
    }
