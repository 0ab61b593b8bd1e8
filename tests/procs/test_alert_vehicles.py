"""lr.alert_vehicles()"""

from __future__ import annotations

import pytest

from tests.procs.conftest import segment


@pytest.fixture(autouse=True)
def accident_ahead(add):
    add("lr.segment_toll", segment_id=segment(5), accident_seg=7)
    add("lr.segment_toll", segment_id=segment(2), lav=30)


def alerts(sql):
    sql("CALL lr.alert_vehicles()")
    return sql("SELECT report_second, vehicle_id, seg FROM lr.accident_alert ORDER BY 1, 2")


@pytest.mark.parametrize(
    ("seg", "crossed", "found"),
    [
        pytest.param(5, True, [(100, 1, 7)], id="accident-ahead"),
        pytest.param(5, False, [], id="was-here-before"),
        pytest.param(2, True, [], id="no-accident"),
        pytest.param(3, True, [], id="no-data"),
    ],
)
def test_who_crossed_is_warned(sql, add, seg, crossed, found):
    add("lr.movement", report_second=100, segment_id=segment(seg), crossed=crossed, started=True)
    assert alerts(sql) == found


def test_everyone_is_warned(sql, add):
    for vehicle_id, second in [(1, 100), (2, 100), (1, 115)]:
        add("lr.movement", vehicle_id=vehicle_id, report_second=second, segment_id=segment(5), crossed=True)
    assert alerts(sql) == [(100, 1, 7), (100, 2, 7), (115, 1, 7)]
