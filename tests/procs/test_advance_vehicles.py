"""lr.advance_vehicles(second)"""

from __future__ import annotations

import pytest

from polling_baseline.spec import EAST, ENTRY_LANE, EXIT_LANE, NO_LAV, REPORT_PERIOD_S, STOP_REPORTS, WEST
from tests.procs.conftest import ring, segment

SECOND = 100
BEFORE = SECOND - REPORT_PERIOD_S


@pytest.fixture
def advance(sql, add):
    """`advance("toll", lane=4)` gives these columns of the vehicle's row, after a report at SECOND."""

    def advance(columns, second=SECOND, **report):
        if report.pop("reports", True):
            add("lr.position_report", report_second=second, **report)
        sql("CALL lr.advance_vehicles(%s)", second)
        [row] = sql(f"SELECT {columns} FROM lr.{ring(second)} WHERE vehicle_id = 1")
        return row

    return advance


def test_what_was_reported_is_kept(advance):
    columns = "segment_id, position_ft, lane, speed_mph"
    found = advance(columns, xway=3, dir=WEST, seg=99, position_ft=527_999, lane=4, speed_mph=100)
    assert found == (segment(99, WEST, 3), 527_999, 4, 100)


@pytest.mark.parametrize(
    ("earlier", "started"),
    [(0, True), (REPORT_PERIOD_S - 1, True), (REPORT_PERIOD_S, False), (REPORT_PERIOD_S + 1, True), (60, True)],
)
def test_a_trip_goes_on_after_30_s_exactly(advance, add_ring, earlier, started):
    add_ring(SECOND - earlier)
    assert advance("started, ended") == (started, False)


def test_a_trip_does_not_go_on_after_its_end(advance, add_ring):
    add_ring(BEFORE, ended=True)
    assert advance("started, crossed, paid") == (True, True, 0)


@pytest.mark.parametrize("reported", [{"lane": EXIT_LANE}, {"segment_id": segment(0, xway=1)}])
def test_neither_the_exit_lane_nor_another_expressway_ends_a_trip(advance, add_ring, reported):
    add_ring(BEFORE, **reported)
    assert advance("started") == (False,)


def test_a_trip_that_is_not_continued_has_ended(advance, add_ring):
    add_ring(BEFORE, segment_id=segment(7), lane=2, stop_reports=STOP_REPORTS, toll=8, paid=2)
    columns = "ended, started, crossed, segment_id, lane, paid, stop_reports = 4"
    assert advance(columns, reports=False) == (True, False, False, segment(7), 2, 2, False)


def test_an_end_is_told_once(sql, add_ring):
    add_ring(BEFORE, ended=True)
    sql("CALL lr.advance_vehicles(%s)", SECOND)
    assert sql(f"SELECT vehicle_id FROM lr.{ring(SECOND)}") == []


def test_only_the_reports_of_this_second_count(sql, add):
    for second in (SECOND - 1, SECOND, SECOND + 1):
        add("lr.position_report", report_second=second, vehicle_id=second)
    sql("CALL lr.advance_vehicles(%s)", SECOND)
    assert sql(f"SELECT vehicle_id FROM lr.{ring(SECOND)}") == [(SECOND,)]


def test_what_the_table_held_goes_away(sql, add_ring):
    add_ring(SECOND - 120)
    sql("CALL lr.advance_vehicles(%s)", SECOND)
    assert sql(f"SELECT vehicle_id FROM lr.{ring(SECOND)}") == []


@pytest.mark.parametrize("second", [0, REPORT_PERIOD_S - 1])
def test_the_first_reports_of_a_run(advance, second):
    assert advance("started, crossed, counted, tally", second=second) == (True, True, True, 60)


def test_several_vehicles_at_one_place(sql, add, add_ring):
    for vehicle_id in (1, 2, 3):
        add("lr.position_report", report_second=SECOND, vehicle_id=vehicle_id)
    for vehicle_id in (2, 3, 4):
        add_ring(BEFORE, vehicle_id=vehicle_id)
    sql("CALL lr.advance_vehicles(%s)", SECOND)
    found = sql(f"SELECT vehicle_id, started, ended FROM lr.{ring(SECOND)} ORDER BY 1")
    assert found == [(1, True, False), (2, False, False), (3, False, False), (4, False, True)]


@pytest.mark.parametrize(
    ("previous", "lane", "crossed"),
    [
        pytest.param(None, ENTRY_LANE, True, id="first-report"),
        pytest.param(None, EXIT_LANE, False, id="first-report-on-the-exit-lane"),
        pytest.param(segment(5), 1, False, id="same-segment"),
        pytest.param(segment(4), 1, True, id="next-segment"),
        pytest.param(segment(6), 1, True, id="a-segment-back"),
        pytest.param(segment(4), EXIT_LANE, False, id="entered-on-the-exit-lane"),
        pytest.param(segment(5, WEST), 1, False, id="same-number-other-direction"),
        pytest.param(segment(5, xway=1), 1, False, id="same-number-other-expressway"),
    ],
)
def test_crossed(advance, add_ring, previous, lane, crossed):
    if previous is not None:
        add_ring(BEFORE, segment_id=previous)
    assert advance("crossed", seg=5, lane=lane) == (crossed,)


def test_a_segment_entered_on_the_exit_lane_is_not_crossed_later(advance, add_ring):
    add_ring(BEFORE, segment_id=segment(5), lane=EXIT_LANE)
    assert advance("crossed, toll", seg=5) == (False, 0)


@pytest.mark.parametrize(
    ("previous", "lane", "toll", "paid"),
    [
        pytest.param(None, 1, 32, 0, id="first-report"),
        pytest.param(None, EXIT_LANE, 0, 0, id="first-report-on-the-exit-lane"),
        pytest.param(segment(5), 1, 8, 2, id="same-segment"),
        pytest.param(segment(5), EXIT_LANE, 8, 2, id="same-segment-on-the-exit-lane"),
        pytest.param(segment(4), 1, 32, 10, id="next-segment"),
        pytest.param(segment(4), EXIT_LANE, 0, 10, id="next-segment-on-the-exit-lane"),
        pytest.param(segment(5, WEST), 1, 8, 2, id="same-number-other-direction"),
    ],
)
def test_a_toll_is_assessed_in_the_next_segment(advance, add, add_ring, previous, lane, toll, paid):
    add("lr.segment_toll", segment_id=segment(5), lav=39, toll=32)
    if previous is not None:
        add_ring(BEFORE, segment_id=previous, toll=8, paid=2)
    assert advance("lav, toll, paid", seg=5, lane=lane) == (39, toll, paid)


def test_a_segment_without_data_is_free(advance, add):
    add("lr.segment_toll", segment_id=segment(5, WEST), lav=39, toll=32)
    assert advance("lav, toll", seg=5, dir=EAST) == (NO_LAV, 0)


@pytest.mark.parametrize(
    ("second", "previous", "counted", "tally"),
    [
        pytest.param(119, segment(5), False, 41 - 30, id="again-in-the-minute"),
        pytest.param(90, segment(5), False, 41 - 30, id="at-both-ends-of-the-half-minute"),
        pytest.param(119, segment(4), True, 2 * 41, id="from-another-segment"),
        pytest.param(119, segment(5, WEST), True, 2 * 41, id="in-another-direction"),
        pytest.param(119, segment(5, xway=1), True, 2 * 41, id="on-another-expressway"),
        pytest.param(120, segment(5), True, 2 * 41, id="in-a-new-minute"),
        pytest.param(149, segment(5), True, 2 * 41, id="for-the-first-time-in-the-minute"),
    ],
)
def test_a_second_report_makes_the_speed_an_average(advance, add_ring, second, previous, counted, tally):
    add_ring(second - REPORT_PERIOD_S, segment_id=previous, speed_mph=30)
    assert advance("counted, tally", second=second, seg=5, speed_mph=41) == (counted, tally)


@pytest.mark.parametrize("before", range(1, STOP_REPORTS + 1))
def test_reports_from_one_place_are_counted(advance, add_ring, before):
    add_ring(BEFORE, stop_reports=before, speed_mph=0)
    assert advance("stop_reports", speed_mph=50) == (min(before + 1, STOP_REPORTS),)


@pytest.mark.parametrize(
    ("change", "stop_reports"),
    [
        pytest.param({"position_ft": 1}, 1, id="a-foot-on"),
        pytest.param({"lane": 2}, 1, id="other-lane"),
        pytest.param({"segment_id": segment(0, WEST)}, 1, id="other-direction"),
        pytest.param({"segment_id": segment(0, xway=1)}, 1, id="other-expressway"),
        pytest.param({"segment_id": segment(1)}, STOP_REPORTS, id="same-place-by-another-segment"),
        pytest.param({"ended": True}, 1, id="other-trip"),
    ],
)
def test_a_stop_is_at_one_place(advance, add_ring, change, stop_reports):
    add_ring(BEFORE, stop_reports=STOP_REPORTS - 1, **change)
    assert advance("stop_reports") == (stop_reports,)
