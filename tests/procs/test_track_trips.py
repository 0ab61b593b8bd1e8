"""lr.track_trips(second)"""

from __future__ import annotations

import pytest

from polling_baseline.spec import MINUTE_S, REPORT_PERIOD_S

SECOND = 100


@pytest.fixture
def track(sql, add):
    """What is known of vehicle 1 after one movement of its own: trips begun and ended, the last second, the balance."""

    def track(**movement):
        add("lr.movement", **{"report_second": SECOND, **movement})
        sql("CALL lr.track_trips(%s)", SECOND)
        return sql("SELECT trips_begun, trips_ended, last_second, balance FROM lr.vehicle WHERE vehicle_id = 1")

    return track


def irregular(sql):
    return [vehicle_id for (vehicle_id,) in sql("SELECT vehicle_id FROM lr.irregular_vehicle ORDER BY 1")]


def test_a_first_trip(sql, track):
    assert track(started=True, crossed=True, toll=8) == [(1, 0, None, 0)]
    assert irregular(sql) == []


@pytest.mark.parametrize("movement", [{"crossed": True}, {"started": True, "report_second": SECOND - 1}])
def test_what_is_no_trip_of_this_second_is_left_alone(track, movement):
    assert track(**movement) == []


def test_a_trip_that_ended_is_settled(track, add):
    add("lr.vehicle", trips_begun=2, trips_ended=1, last_second=10, balance=8)
    # What was notified and not assessed is never charged.
    assert track(ended=True, toll=32, paid=2) == [(2, 2, SECOND - REPORT_PERIOD_S, 10)]


@pytest.mark.parametrize(
    ("last_second", "found"),
    [(SECOND - MINUTE_S, []), (SECOND - MINUTE_S + 1, [1]), (SECOND - REPORT_PERIOD_S - 1, [1])],
)
def test_a_vehicle_that_comes_back_within_a_minute_is_irregular(sql, track, add, last_second, found):
    add("lr.vehicle", trips_ended=1, last_second=last_second, balance=8)
    assert track(started=True) == [(2, 1, last_second, 8)]
    assert irregular(sql) == found


def test_a_second_trip_beside_one_under_way_is_irregular(sql, track, add):
    add("lr.vehicle", trips_begun=1)
    assert track(started=True) == [(2, 0, None, 0)]
    assert irregular(sql) == [1]


def test_irregular_once_is_irregular_for_good(sql, track, add):
    add("lr.irregular_vehicle", vehicle_id=1)
    add("lr.vehicle", trips_begun=1)
    assert track(started=True) == [(2, 0, None, 0)]
    assert irregular(sql) == [1]


def test_an_end_of_an_earlier_second_is_not_settled_again(track, add):
    add("lr.vehicle", trips_begun=2, trips_ended=1, last_second=10, balance=8)
    assert track(ended=True, paid=8, report_second=SECOND - 1) == [(2, 1, 10, 8)]


def test_one_vehicle_starts_as_another_ends(sql, track, add):
    add("lr.vehicle", vehicle_id=2)
    add("lr.movement", report_second=SECOND, vehicle_id=2, ended=True, paid=2)
    assert track(started=True) == [(1, 0, None, 0)]
    assert sql("SELECT trips_ended, balance FROM lr.vehicle WHERE vehicle_id = 2") == [(1, 2)]
    assert irregular(sql) == []


def test_nothing_moves(sql):
    sql("CALL lr.track_trips(%s)", SECOND)
    assert sql("SELECT vehicle_id FROM lr.vehicle") == []
