"""lr.take_report(): the row trigger on position_report"""

from __future__ import annotations

import pytest

from polling_baseline.spec import EAST, ENTRY_LANE, EXIT_LANE, NO_LAV, REPORT_PERIOD_S, STOP_REPORTS, WEST
from tests.procs.conftest import segment

SECOND = 100
PHASE = SECOND % REPORT_PERIOD_S


@pytest.fixture
def cursor(row_cursor):
    return row_cursor


@pytest.fixture
def report(add):
    def report(**values):
        add("lr.position_report", **{"report_second": SECOND, **values})

    return report


@pytest.fixture
def known(add):
    """`known(toll=2)`: the vehicle's trip as its report 30 s before left it."""

    def known(**values):
        add("lr.trip", **{"phase": PHASE, "report_second": SECOND - REPORT_PERIOD_S, **values})

    return known


def tolls(sql):
    return sql("SELECT vehicle_id, report_second, lav, toll FROM lr.toll_notification ORDER BY 2, 1")


def balances(sql):
    return sql("SELECT vehicle_id, balance FROM lr.vehicle")


@pytest.mark.parametrize(
    ("earlier", "notified"),
    [(REPORT_PERIOD_S - 1, 1), (REPORT_PERIOD_S, 0), (REPORT_PERIOD_S + 1, 1), (2 * REPORT_PERIOD_S, 1)],
)
def test_a_trip_goes_on_after_30_s_exactly(sql, report, earlier, notified):
    report(report_second=SECOND - earlier)
    sql("TRUNCATE lr.toll_notification")
    report()
    assert len(tolls(sql)) == notified


@pytest.mark.parametrize(
    ("lane", "seg", "notified"),
    [
        pytest.param(1, 0, False, id="same-segment"),
        pytest.param(1, 1, True, id="next-segment"),
        pytest.param(ENTRY_LANE, 1, True, id="entry-lane"),
        pytest.param(EXIT_LANE, 1, False, id="exit-lane"),
    ],
)
def test_who_is_told(sql, report, known, lane, seg, notified):
    known()
    report(lane=lane, seg=seg)
    assert tolls(sql) == [(1, SECOND, NO_LAV, 0)] * notified


def test_the_notification_says_what_the_segment_costs(sql, add, report):
    add("lr.segment_toll", segment_id=segment(7, WEST, 3), lav=30, toll=8)
    report(seg=7, dir=WEST, xway=3)
    assert tolls(sql) == [(1, SECOND, 30, 8)]
    assert sql("SELECT toll FROM lr.trip") == [(8,)]


@pytest.mark.parametrize(("lane", "alerts"), [(1, [(SECOND, 1, 9)]), (EXIT_LANE, [])])
def test_an_alert_comes_with_the_notification(sql, add, report, lane, alerts):
    add("lr.segment_toll", segment_id=segment(7), accident_seg=9)
    report(seg=7, lane=lane)
    assert sql("SELECT report_second, vehicle_id, seg FROM lr.accident_alert") == alerts


@pytest.mark.parametrize(
    ("seg", "lane", "paid"),
    [
        pytest.param(0, 1, [], id="still-there"),
        pytest.param(1, 1, [(1, 8)], id="next-segment"),
        pytest.param(1, EXIT_LANE, [(1, 8)], id="exit-lane"),
    ],
)
def test_a_toll_is_assessed_when_the_segment_is_left(sql, report, known, seg, lane, paid):
    known(toll=8)
    report(seg=seg, lane=lane)
    assert balances(sql) == paid


def test_a_new_trip_owes_nothing_for_the_old_one(sql, report, known):
    known(toll=8, report_second=SECOND - 2 * REPORT_PERIOD_S)
    report(seg=1)
    assert balances(sql) == []


def test_tolls_add_up(sql, add, report, known):
    add("lr.vehicle", trips_begun=0, balance=2)
    known(toll=8)
    report(seg=1)
    assert balances(sql) == [(1, 10)]


def test_a_toll_that_was_carried_on_is_assessed_later(sql, add, report):
    add("lr.segment_toll", segment_id=segment(0), lav=30, toll=8)
    for seg, second in [(0, 10), (0, 40), (1, 70)]:
        report(seg=seg, report_second=second)
    assert balances(sql) == [(1, 8)]


def test_two_trips_of_a_vehicle_at_once(sql, add, report):
    add("lr.segment_toll", segment_id=segment(0), lav=30, toll=8)
    for seg, second in [(0, 60), (0, 70), (1, 90), (1, 100)]:
        report(seg=seg, report_second=second)
    assert balances(sql) == [(1, 16)]
    assert [row[1] for row in tolls(sql)] == [60, 70, 90, 100]


@pytest.mark.parametrize(
    ("changed", "counted"),
    [
        pytest.param({}, STOP_REPORTS, id="same-place"),
        pytest.param({"speed_mph": 99}, STOP_REPORTS, id="speed-is-not-looked-at"),
        pytest.param({"lane": 2}, 1, id="other-lane"),
        pytest.param({"position_ft": 1}, 1, id="other-position"),
        pytest.param({"dir": WEST}, 1, id="other-direction"),
        pytest.param({"xway": 1}, 1, id="other-expressway"),
    ],
)
def test_a_stop(sql, report, known, changed, counted):
    known(stop_reports=STOP_REPORTS - 1)
    report(**changed)
    assert sql("SELECT stop_reports FROM lr.trip") == [(counted,)]
    stops = sql("SELECT road_id, lane, position_ft, from_second, until_second FROM lr.stopped_car")
    assert stops == [(EAST, 1, 0, SECOND, SECOND + REPORT_PERIOD_S - 1)] * (counted == STOP_REPORTS)


@pytest.mark.parametrize("lane", [ENTRY_LANE, EXIT_LANE])
def test_only_on_a_travel_lane(sql, report, known, lane):
    known(stop_reports=STOP_REPORTS, lane=lane)
    report(lane=lane)
    assert sql("SELECT stop_reports FROM lr.trip") == [(STOP_REPORTS,)]
    assert sql("SELECT vehicle_id FROM lr.stopped_car") == []
