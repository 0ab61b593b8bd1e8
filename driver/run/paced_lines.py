"""The input of a run as lines, each second when it comes; nobody is measured."""

from __future__ import annotations

import time
from typing import BinaryIO

from driver.dataset.folder import Dataset
from driver.dataset.integrity import check_files
from driver.run.feed import Feed
from polling_baseline.engines.external.lines import warm_up, write_batch


def write_paced(dataset: Dataset, seconds: range, speed: float | None, marks: bool, out: BinaryIO) -> None:
    """Write the lines of these seconds, `speed` seconds of them in a second, or as fast as they are read.

    A reader that is too slow makes later seconds late; their time does not move.
    """
    check_files(dataset)
    warm_up()
    feed = Feed(dataset, seconds, workers=1, ahead=True)
    try:
        start = time.perf_counter()
        for second in seconds:
            batch = feed.take(range(second, second + 1))
            if speed is not None:
                time.sleep(max(0.0, start + (second - seconds.start) / speed - time.perf_counter()))
            out.write(write_batch(batch, marks))
            out.flush()
    finally:
        feed.close()
