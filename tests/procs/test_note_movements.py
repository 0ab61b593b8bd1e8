"""lr.note_movements(second)"""

from __future__ import annotations

import pytest

from polling_baseline.spec import STOP_REPORTS
from tests.procs.conftest import DEFAULTS, segment


@pytest.mark.parametrize(
    ("meaning", "noted"),
    [
        ({}, False),
        ({"started": True}, True),
        ({"ended": True}, True),
        ({"crossed": True}, True),
        ({"stop_reports": STOP_REPORTS}, True),
        ({"stop_reports": STOP_REPORTS - 1}, False),
    ],
)
def test_what_means_something_is_noted(sql, add_ring, meaning, noted):
    add_ring(100, **meaning)
    sql("CALL lr.note_movements(100)")
    assert sql("SELECT report_second, vehicle_id FROM lr.movement") == [(100, 1)] * noted


def test_all_columns_keep_their_names(sql, add_ring):
    row = {"segment_id": segment(7), "lane": 3, "lav": 39, "crossed": True, "toll": 2**40, "paid": 2**41}
    row = {**DEFAULTS["lr.movement"], **row}
    add_ring(100, **row)
    sql("CALL lr.note_movements(100)")
    assert sql(f"SELECT {', '.join(row)} FROM lr.movement") == [tuple(row.values())]


def test_only_this_second_is_looked_at(sql, add_ring):
    for second in (99, 101):
        add_ring(second, started=True)
    sql("CALL lr.note_movements(100)")
    assert sql("SELECT vehicle_id FROM lr.movement") == []


def test_seconds_of_a_cycle_gather(sql, add_ring):
    for second in (99, 100):
        add_ring(second, started=True)
        sql("CALL lr.note_movements(%s)", second)
    assert sql("SELECT report_second FROM lr.movement ORDER BY 1") == [(99,), (100,)]
