"""lr.review_minute(minute, reports)"""

from __future__ import annotations

from fractions import Fraction

import pytest

from polling_baseline.spec import EAST, EXIT_LANE, WEST
from tests.procs.conftest import segment


@pytest.fixture
def review(sql, add):
    """The tally by segment in minute 2, after these reports of vehicle 1 in segment 0 or what they say instead."""

    def review(*reports):
        for second, report in enumerate(reports, 60):
            add("lr.position_report", **{"report_second": second, **report})
        sql("CALL lr.review_minute(2, 'lr.position_report')")
        return sql("SELECT segment_id, cars, speed_sum FROM lr.segment_tally ORDER BY 1")

    return review


def test_no_reports(review):
    assert review() == []


@pytest.mark.parametrize("speeds", [(30,), (30, 50), (20, 30, 70), (10, 10, 11)])
def test_all_reports_of_a_car_from_a_segment_are_averaged(review, speeds):
    [(segment_id, cars, speed_sum)] = review(*({"speed_mph": speed} for speed in speeds))
    assert (segment_id, cars) == (0, 1)
    assert abs(Fraction(speed_sum) - Fraction(2 * sum(speeds), len(speeds))) < Fraction(1, 10**30)


def test_cars_are_added_up_by_segment(review):
    found = review(
        {"vehicle_id": 1, "speed_mph": 10},
        {"vehicle_id": 2, "speed_mph": 20, "lane": EXIT_LANE},
        {"vehicle_id": 1, "seg": 1},
        {"vehicle_id": 1, "dir": WEST},
        {"vehicle_id": 1, "xway": 1},
    )
    others = [segment(1), segment(0, WEST), segment(0, EAST, 1)]
    assert found == [(0, 2, 60), *((segment_id, 1, 60) for segment_id in others)]


@pytest.mark.parametrize(
    ("vehicle_id", "report_second", "until_second"),
    [
        pytest.param(1, 70, 99, id="the-report-that-stopped-it"),
        pytest.param(1, 71, 70, id="a-second-later"),
        pytest.param(1, 99, 98, id="the-last-second"),
        pytest.param(1, 100, 99, id="too-late"),
        pytest.param(1, 69, 99, id="before"),
        pytest.param(2, 80, 99, id="another-car"),
    ],
)
def test_a_stop_ends_with_the_next_report(sql, add, review, vehicle_id, report_second, until_second):
    add("lr.stopped_car", from_second=70, until_second=99)
    review({"vehicle_id": vehicle_id, "report_second": report_second, "seg": 40})
    assert sql("SELECT until_second FROM lr.stopped_car WHERE from_second = 70") == [(until_second,)]


@pytest.mark.parametrize(("report_second", "rows"), [(59, 0), (60, 1), (119, 1), (120, 0)])
def test_reports_of_other_minutes_may_be_there(review, report_second, rows):
    assert len(review({"report_second": report_second})) == rows


def test_a_report_of_the_next_minute_ends_nothing_yet(sql, add, review):
    add("lr.stopped_car", from_second=100, until_second=129)
    review({"report_second": 125})
    assert sql("SELECT until_second FROM lr.stopped_car") == [(129,)]


def test_the_first_of_several_reports_ends_it(sql, add, review):
    add("lr.stopped_car", from_second=70, until_second=99)
    review({"report_second": 90}, {"report_second": 80}, {"report_second": 95})
    assert sql("SELECT until_second FROM lr.stopped_car") == [(79,)]
