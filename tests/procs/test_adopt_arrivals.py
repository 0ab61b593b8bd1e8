"""lr.adopt_arrivals(second), with a second worker's schema lr_1"""

from __future__ import annotations

import pytest

from polling_baseline.spec import EXIT_LANE, REPORT_PERIOD_S
from tests.procs.conftest import ring, segment

SECOND = 40
BEFORE = SECOND - REPORT_PERIOD_S
HERE = segment(5)


@pytest.fixture
def cursor(cursor_of_two):
    return cursor_of_two


@pytest.fixture
def adopt(sql, add_ring):
    """What becomes of a report that began a trip, for all this worker knew; 32 is the toll here."""

    def adopt(**arrival):
        add_ring(SECOND, **{"segment_id": HERE, "started": True, "crossed": True, "toll": 32, **arrival})
        sql("CALL lr.adopt_arrivals(%s)", SECOND)
        [row] = sql(f"SELECT crossed, toll, paid FROM lr.{ring(SECOND)}")
        return row

    return adopt


@pytest.mark.parametrize(
    ("seg", "crossed", "toll", "paid"),
    [
        pytest.param(4, True, 32, 8, id="other-segment"),
        pytest.param(5, False, 8, 0, id="same-number"),
    ],
)
def test_an_arrival_continues_its_trip(adopt, add_ring, seg, crossed, toll, paid):
    add_ring(BEFORE, "lr_1", segment_id=segment(seg, xway=1), toll=8, paid=2)
    assert adopt() == (crossed, toll, paid)


@pytest.mark.parametrize(("seg", "toll", "paid"), [(4, 0, 8), (5, 8, 0)])
def test_an_arrival_on_the_exit_lane(adopt, add_ring, seg, toll, paid):
    add_ring(BEFORE, "lr_1", segment_id=segment(seg, xway=1), toll=8)
    assert adopt(lane=EXIT_LANE, crossed=False, toll=0) == (False, toll, paid)


@pytest.mark.parametrize(
    ("second", "there"),
    [
        pytest.param(BEFORE, {"ended": True}, id="trip-was-over"),
        pytest.param(BEFORE, {"vehicle_id": 2}, id="other-vehicle"),
        pytest.param(BEFORE - 1, {}, id="31-s-ago"),
        pytest.param(BEFORE + 1, {}, id="29-s-ago"),
    ],
)
def test_others_are_left_alone(adopt, add_ring, second, there):
    add_ring(second, "lr_1", **{"segment_id": segment(4, xway=1), "toll": 8, **there})
    assert adopt() == (True, 32, 0)


def test_a_trip_of_this_worker_is_left_alone(adopt, add_ring):
    add_ring(BEFORE, "lr_1", segment_id=segment(4, xway=1), toll=8)
    assert adopt(started=False, paid=2) == (True, 32, 2)


def test_this_workers_own_ring_is_not_looked_at(adopt, add_ring):
    add_ring(BEFORE, segment_id=segment(4), toll=8)
    assert adopt() == (True, 32, 0)


def test_the_other_worker_adopts_as_well(sql, add_ring):
    add_ring(BEFORE, segment_id=segment(4), toll=8)
    add_ring(SECOND, "lr_1", segment_id=segment(5, xway=1), started=True, crossed=True, toll=32)
    sql("CALL lr_1.adopt_arrivals(%s)", SECOND)
    assert sql(f"SELECT crossed, toll, paid FROM lr_1.{ring(SECOND)}") == [(True, 32, 8)]
