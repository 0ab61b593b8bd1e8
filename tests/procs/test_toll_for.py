"""lr.toll_for(cars, lav, accident_ahead)"""

from __future__ import annotations

from decimal import Decimal

import pytest

from polling_baseline import spec
from polling_baseline.spec import FREE_CARS, FREE_FLOW_MPH, NO_LAV


@pytest.mark.parametrize(
    ("cars", "lav", "accident_ahead", "toll"),
    [
        pytest.param(0, NO_LAV, False, 0, id="empty"),
        pytest.param(FREE_CARS, FREE_FLOW_MPH - 1, False, 0, id="not-crowded"),
        pytest.param(FREE_CARS + 1, FREE_FLOW_MPH - 1, False, 2, id="one-too-many"),
        pytest.param(FREE_CARS + 10, FREE_FLOW_MPH - 1, False, 200, id="crowded"),
        pytest.param(FREE_CARS + 10, 0, False, 200, id="standing"),
        pytest.param(FREE_CARS + 10, FREE_FLOW_MPH, False, 0, id="flowing"),
        pytest.param(FREE_CARS + 10, FREE_FLOW_MPH - 1, True, 0, id="accident-ahead"),
    ],
)
def test_toll_for(sql, cars, lav, accident_ahead, toll):
    assert sql("SELECT lr.toll_for(%s, %s, %s)", cars, lav, accident_ahead) == [(toll,)]
    assert spec.toll_for(cars, lav, accident_ahead) == toll


@pytest.mark.parametrize(
    ("above_cars", "below_mph", "toll"),
    [("0.5", "0.01", "0.5"), ("0.5", "0", "0"), ("0", "0.01", "0"), ("1.25", "0.01", "3.125")],
)
def test_means_are_not_rounded(sql, above_cars, below_mph, toll):
    cars, lav = FREE_CARS + Decimal(above_cars), FREE_FLOW_MPH - Decimal(below_mph)
    assert sql("SELECT lr.toll_for(%s, %s, FALSE)", cars, lav) == [(Decimal(toll),)]
