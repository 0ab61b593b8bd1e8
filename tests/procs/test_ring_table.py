"""lr.ring_table(second)"""

from __future__ import annotations

import pytest

from polling_baseline.spec import MINUTE_S, REPORT_PERIOD_S

# A cycle shorter than the report period writes while a whole minute, and the stops that reach into it, are looked at.
TABLES = MINUTE_S + 2 * REPORT_PERIOD_S


@pytest.mark.parametrize(
    ("second", "table"),
    [
        (0, "ring_000"),
        (9, "ring_009"),
        (TABLES - 1, "ring_119"),
        (TABLES, "ring_000"),
        (-REPORT_PERIOD_S, "ring_090"),
        (-1, "ring_119"),
        (-TABLES, "ring_000"),
    ],
)
def test_ring_table(sql, second, table):
    assert sql("SELECT lr.ring_table(%s)", second) == [(table,)]


def test_the_tables_are_those_that_exist(sql):
    named = {name for second in range(TABLES) for (name,) in sql("SELECT lr.ring_table(%s)", second)}
    exist = sql("SELECT relname FROM pg_class WHERE relname LIKE 'ring\\_%%' AND relnamespace = %s::regnamespace", "lr")
    assert named == {name for (name,) in exist}
    assert len(named) == TABLES
