"""lr.floor_of(value)"""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("value", "floor"),
    [
        ("0", 0),
        ("39.999999999999", 39),
        ("40", 40),
        ("-0.1", -1),
        ("lr.exact(1) / 3 + lr.exact(1) / 3 + lr.exact(1) / 3", 1),
        ("lr.exact(119) / 3 + lr.exact(1) / 7 + lr.exact(4) / 21", 40),
        ("lr.exact(119) / 3 + lr.exact(1) / 7 + lr.exact(399) / 2100", 39),
    ],
)
def test_floor_of(sql, value, floor):
    assert sql(f"SELECT lr.floor_of({value})") == [(floor,)]
