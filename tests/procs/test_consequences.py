"""lr.consequences(report, known, traffic), of design 2004"""

from __future__ import annotations

import pytest

from polling_baseline.spec import EXIT_LANE, REPORT_PERIOD_S, SEGMENT_FT, STOP_REPORTS
from tests.procs.conftest import segment

SECOND = 60
REPORT = {"report_second": SECOND, "vehicle_id": 1, "speed_mph": 30, "xway": 0, "lane": 1, "dir": 0, "seg": 5}
KNOWN = {"vehicle_id": 1, "phase": 0, "report_second": SECOND - REPORT_PERIOD_S, "segment_id": segment(5)}
STATE = {"position_ft": 0, "lane": 1, "stop_reports": 1, "toll": 8, "charged": 0, "paid": 0}


@pytest.fixture
def cursor(cursor_of_2004):
    return cursor_of_2004


@pytest.fixture
def consequences(sql):
    """Is a segment entered, how many reports came from here, is it stopped, what does it owe, what is assessed?"""

    def consequences(report=(), known=(), toll=None):
        reported = {**REPORT, "position_ft": 5 * SEGMENT_FT, **dict(report)}
        row = None if known is None else tuple({**KNOWN, **STATE, **dict(known)}.values())
        traffic = None if toll is None else (segment(reported["seg"]), 30, toll, None)
        [found] = sql(
            "SELECT * FROM lr.consequences(%s::lr.position_report, %s::lr.vehicle, %s::lr.segment_toll)",
            tuple(reported.values()),
            row,
            traffic,
        )
        return found

    return consequences


def test_a_trip_begins(consequences):
    assert consequences(known=None) == (True, 1, False, 0, 0)
    assert consequences(known=None, toll=2) == (True, 1, False, 2, 0)


@pytest.mark.parametrize("report_second", [SECOND - 1, SECOND - 29, SECOND - 31, SECOND - 60])
def test_a_row_of_another_trip_is_none(consequences, report_second):
    assert consequences(known={"report_second": report_second}, toll=2) == (True, 1, False, 2, 0)


def test_a_trip_goes_on_in_its_segment(consequences):
    assert consequences(toll=2) == (False, 1, False, 8, 0)


def test_a_toll_is_assessed_when_the_trip_enters_another_segment(consequences):
    assert consequences({"seg": 6}, toll=2) == (True, 1, False, 2, 8)
    assert consequences({"seg": 6}) == (True, 1, False, 0, 8)


def test_on_the_exit_lane_a_toll_is_assessed_and_none_is_notified(consequences):
    assert consequences({"seg": 6, "lane": EXIT_LANE}, toll=2) == (False, 1, False, 0, 8)


def test_the_same_segment_of_another_expressway_is_the_same_segment(consequences):
    assert consequences({"xway": 1}, toll=2) == (False, 1, False, 8, 0)


@pytest.mark.parametrize(("reports", "counted"), [(1, 2), (2, 3), (3, 4), (4, 4)])
def test_a_car_is_stopped_from_its_fourth_report_from_one_place_on(consequences, reports, counted):
    known = {"stop_reports": reports, "position_ft": 5 * SEGMENT_FT}
    assert consequences(known=known)[1:3] == (counted, counted == STOP_REPORTS)
    assert consequences({"lane": 0}, {**known, "lane": 0})[1:3] == (counted, False)


@pytest.mark.parametrize("change", [{"position_ft": 0}, {"lane": 2}, {"dir": 1}, {"xway": 1}])
def test_at_another_place_it_is_not(consequences, change):
    assert consequences(change, {"stop_reports": STOP_REPORTS, "position_ft": 5 * SEGMENT_FT})[1:3] == (1, False)
