"""lr.crowded_cars(minute)"""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("other", "cars"),
    [
        pytest.param({}, [1, 2], id="at-one-place"),
        pytest.param({"lane": 2}, [], id="on-another-lane"),
        pytest.param({"road_id": 1}, [], id="on-another-road"),
        pytest.param({"position_ft": 1}, [], id="a-foot-away"),
        pytest.param({"vehicle_id": 1}, [], id="the-same-car"),
        pytest.param({"until_second": 59}, [], id="gone-before-the-minute"),
    ],
)
def test_who_stood_where_another_one_did(sql, add, other, cars):
    add("lr.stopped_car", from_second=70, until_second=99)
    add("lr.stopped_car", **{"vehicle_id": 2, "from_second": 31, "until_second": 60, **other})
    assert sql("SELECT lr.crowded_cars(2)") == [(cars,)]


def test_nobody_stands(sql):
    assert sql("SELECT lr.crowded_cars(2)") == [([],)]
