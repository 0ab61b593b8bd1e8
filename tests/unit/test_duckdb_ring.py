"""The tables of engine duckdb's ring hold the seconds that a cycle looks back on, however long cycles are."""

from __future__ import annotations

import random
import re

import pytest

from driver.run.poller import seconds_to_take
from polling_baseline import spec
from polling_baseline.engines.duckdb.ring import EMPTY, Ring, table_of

PART = re.compile(r"FROM (lr\.ring_\d\d)(?: WHERE second BETWEEN (-?\d+) AND (-?\d+))?")


def seconds_in(rows: str, tables: dict[str, range]) -> list[int]:
    """The seconds whose rows this source gives."""
    if rows == EMPTY:
        return []
    parts = PART.findall(rows if " " in rows else f"FROM {rows}")
    return [
        second
        for table, first, last in parts
        for second in tables[table]
        if not first or int(first) <= second <= int(last)
    ]


@pytest.mark.parametrize("longest", [1, 2, 7, 29])
def test_cycles_of_all_lengths(longest: int) -> None:
    rng = random.Random(longest)
    ring, tables, start = Ring([]), dict[str, range](), 0
    while start < 8 * spec.MINUTE_S:
        cycle = seconds_to_take(start, start + rng.randint(1, longest) - 1)
        start = cycle.stop
        if cycle.start % spec.MINUTE_S == 0:
            minute = range(max(0, cycle.start - spec.MINUTE_S), cycle.start)
            assert seconds_in(ring.rows(minute), tables) == list(minute)
        before = range(cycle.start - spec.REPORT_PERIOD_S, cycle.stop - spec.REPORT_PERIOD_S)
        assert seconds_in(ring.rows(before), tables) == [second for second in before if second >= 0]
        tables[table_of(cycle)] = cycle
        ring.add(cycle)
        recent = range(max(0, cycle.start - spec.REPORT_PERIOD_S + 1), cycle.stop)
        assert seconds_in(ring.rows(recent), tables) == list(recent)
        for table in ring.drop(cycle):
            del tables[table]
        assert sum(map(len, tables.values())) < 2 * spec.MINUTE_S, "tables stay that nobody needs"


def test_regular_cycles_read_one_table_and_drop_none() -> None:
    ring = Ring([])
    for second in range(3 * spec.MINUTE_S):
        cycle = range(second, second + 1)
        ring.add(cycle)
        assert ring.drop(cycle) == []
        if second >= spec.REPORT_PERIOD_S:
            before = second - spec.REPORT_PERIOD_S
            assert ring.rows(range(before, before + 1)) == f"lr.ring_{before % spec.MINUTE_S:02d}"
