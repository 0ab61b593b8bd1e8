"""Run every compiled loop once, so that none is compiled while the clock runs."""

from __future__ import annotations

import numpy as np

from polling_baseline import spec
from polling_baseline.batch import REPORT_COLUMNS, REQUEST_COLUMNS, Share
from polling_baseline.engines.aurora.linear_road.history import SmallHistory
from polling_baseline.engines.aurora.linear_road.vehicles import Second
from polling_baseline.engines.aurora.model.hashing import SMALLEST, Amounts, Numbering
from polling_baseline.engines.aurora.node import ROUNDS, Node, Options

WIDE = {"vehicle_id": np.int32, "position_ft": np.int32, "query_id": np.int64}


def warm_up(alone: bool) -> None:
    """Two minutes of a small road, in a network that is then forgotten."""
    history = SmallHistory(
        {(1, 1, 0): 2}, [(day, minute, 0, 0, 1, 30, 60, 0) for day in (1, 7) for minute in (1, 2)]
    ).load()
    node = Node(history, alone, Options())
    for second in range(0, 2 * spec.MINUTE_S, 15):
        node.feed(range(second, second + 15), _share(second))
        if not alone:
            for number in range(len(ROUNDS)):
                reply = node.reply(node.question(number))
                node.hear(number, [reply])
        node.finish()
    _grow_tables()


def _grow_tables() -> None:
    """Tables move when they grow, which no small road makes them do."""
    numbers, amounts, second = Numbering(), Amounts(), Second()
    for start in (0, 4 * SMALLEST):
        keys = np.arange(start, start + 4 * SMALLEST)
        numbers.of(keys)
        amounts.add(keys.astype(np.int32), keys)
        amounts.replace(keys, keys)
        second.add(keys.astype(np.int32), keys)


def _share(second: int) -> Share:
    # More cars than a free segment has, and two of them stand still.
    cars = np.arange(2 * spec.FREE_CARS)
    reports = {name: np.ones(len(cars), WIDE.get(name, np.int16)) for name in REPORT_COLUMNS}
    reports["vehicle_id"] = cars.astype(np.int32)
    reports["second"][:] = second
    reports["seg"][2:] = second // 15 % spec.SEGMENTS
    requests = {name: np.ones(3, WIDE.get(name, np.int16)) for name in REQUEST_COLUMNS}
    requests["second"][:] = second
    requests["xway"][:] = 0
    requests["kind"][:] = (spec.BALANCE, spec.EXPENDITURE, spec.TRAVEL_TIME)
    requests["to_seg"][:] = 2
    return Share(reports, requests)
