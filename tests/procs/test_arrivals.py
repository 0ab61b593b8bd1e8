"""lr.arrivals(), of design 2004"""

from __future__ import annotations

import pytest

from tests.procs.conftest import segment


@pytest.fixture
def cursor(cursor_of_2004):
    return cursor_of_2004


@pytest.fixture(autouse=True)
def rows(sql, add):
    """Vehicle 1 goes on in phase 5, vehicle 2 is known in another phase, vehicle 3 is new."""
    sql("INSERT INTO lr.segment_toll VALUES (%s, 39, 2, 4)", segment(1))
    for vehicle_id, phase in ((1, 5), (2, 6)):
        sql(
            "INSERT INTO lr.vehicle"
            " (vehicle_id, phase, report_second, segment_id, position_ft, lane, stop_reports, toll, charged, paid)"
            " VALUES (%s, %s, 35, 0, 0, 1, 1, 8, 0, 0)",
            vehicle_id,
            phase,
        )
    for vehicle_id in (1, 2, 3):
        add("lr.position_report", report_second=65, vehicle_id=vehicle_id, seg=1, position_ft=5280)


def test_each_report_meets_the_row_of_its_phase_and_segment(sql):
    found = sql(
        "SELECT vehicle_id, phase, known, segment_id, lav, accident_seg, crossed, toll, charged FROM lr.arrivals()"
        " ORDER BY 1"
    )
    assert found == [
        (1, 5, True, segment(1), 39, 4, True, 2, 8),
        (2, 5, False, segment(1), 39, 4, True, 2, 0),
        (3, 5, False, segment(1), 39, 4, True, 2, 0),
    ]


def test_a_plan_has_the_join_itself(sql):
    plan = " ".join(line for (line,) in sql("EXPLAIN SELECT vehicle_id FROM lr.arrivals() WHERE NOT known"))
    assert "Function Scan" not in plan and "position_report" in plan and "segment_toll" not in plan
