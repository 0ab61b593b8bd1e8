"""lr.note_stops()"""

from __future__ import annotations

import pytest

from polling_baseline.spec import (
    ENTRY_LANE,
    EXIT_LANE,
    REPORT_PERIOD_S,
    RUN_SECONDS,
    STOP_REPORTS,
    TRAVEL_LANES,
    WEST,
)
from tests.procs.conftest import segment


def stops(sql, columns="vehicle_id"):
    sql("CALL lr.note_stops()")
    return sql(f"SELECT {columns} FROM lr.stopped_car")


@pytest.mark.parametrize("reports", range(1, STOP_REPORTS + 1))
def test_the_fourth_report_makes_a_stop(sql, add, reports):
    add("lr.movement", report_second=100, stop_reports=reports, crossed=True)
    assert stops(sql) == [(1,)] * (reports >= STOP_REPORTS)


@pytest.mark.parametrize("lane", range(ENTRY_LANE, EXIT_LANE + 1))
def test_only_on_a_travel_lane(sql, add, lane):
    add("lr.movement", report_second=100, stop_reports=STOP_REPORTS, lane=lane)
    assert stops(sql) == [(1,)] * (lane in TRAVEL_LANES)


@pytest.mark.parametrize("second", [0, RUN_SECONDS - 1])
def test_a_stop_lasts_until_the_next_report(sql, add, second):
    add("lr.movement", report_second=second, stop_reports=STOP_REPORTS)
    assert stops(sql, "from_second, until_second") == [(second, second + REPORT_PERIOD_S - 1)]


def test_where_it_is(sql, add):
    place = {"segment_id": segment(99, WEST, 3), "lane": 2, "position_ft": 527_999}
    add("lr.movement", report_second=100, stop_reports=STOP_REPORTS, **place)
    assert stops(sql, "road_id, lane, position_ft") == [(7, 2, 527_999)]


def test_a_trip_that_ended_is_no_stop(sql, add):
    add("lr.movement", report_second=100, stop_reports=STOP_REPORTS, ended=True)
    assert stops(sql) == []


def test_earlier_stops_stay(sql, add):
    add("lr.stopped_car", vehicle_id=2, from_second=90, until_second=119)
    add("lr.movement", report_second=100, stop_reports=STOP_REPORTS)
    assert sorted(stops(sql)) == [(1,), (2,)]
