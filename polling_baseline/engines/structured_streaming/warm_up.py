"""Input to warm up with: Java compiles what it runs often, and the first micro-batches take ten times as long."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from polling_baseline import spec
from polling_baseline.batch import REPORT_COLUMNS, REQUEST_COLUMNS, Batch, Columns, Share

CARS = 2000
WIDE = {"vehicle_id": np.int32, "position_ft": np.int32, "query_id": np.int64}


def warm_up_batches(seconds: int) -> Iterator[Batch]:
    """So many seconds of a small road, around the end of a minute."""
    start = spec.MINUTE_S - seconds // 2
    for second in range(start, start + seconds):
        yield Batch(range(second, second + 1), (Share(_reports(second), _requests(second)),))


def _reports(second: int) -> Columns:
    cars = np.arange(CARS)
    columns = {name: np.ones(CARS, WIDE.get(name, np.int16)) for name in REPORT_COLUMNS}
    columns["vehicle_id"] = (second % spec.REPORT_PERIOD_S * CARS + cars).astype(np.int32)
    columns["second"][:] = second
    columns["seg"] = (cars % spec.SEGMENTS).astype(np.int16)
    return columns


def _requests(second: int) -> Columns:
    kinds = (spec.BALANCE, spec.EXPENDITURE, spec.TRAVEL_TIME)
    columns = {name: np.ones(len(kinds), WIDE.get(name, np.int16)) for name in REQUEST_COLUMNS}
    columns["kind"][:], columns["second"][:] = kinds, second
    return columns
