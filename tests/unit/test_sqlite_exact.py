"""The functions that SQLite calls count as fractions do, beyond 64 bits, too."""

from __future__ import annotations

import sqlite3
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polling_baseline import spec
from polling_baseline.engines.sqlite import exact

INTEGERS = st.integers(-(2**63), 2**63 - 1)
POSITIVE = st.integers(1, 2**63 - 1)


@given(INTEGERS, POSITIVE, INTEGERS, POSITIVE)
def test_sums_of_quotients(one: int, divisor: int, other: int, other_divisor: int) -> None:
    total = exact.plus(exact.quotient(one, divisor), exact.quotient(other, other_divisor))
    right = Fraction(one, divisor) + Fraction(other, other_divisor)
    assert Fraction(total) == right
    assert isinstance(total, int) == (right.denominator == 1 and abs(right) < 2**63)
    assert exact.floor_of(total) == right // 1
    assert exact.rounded(total) == (right + Fraction(1, 2)) // 1


@given(st.integers(0, 2**34), st.integers(0, 2**34), st.integers(1, 10))
def test_a_toll_on_means(cars: int, lav: int, days: int) -> None:
    mean, speed = Fraction(cars, days), Fraction(lav, days)
    crowded = mean > spec.FREE_CARS and speed < spec.FREE_FLOW_MPH
    assert Fraction(exact.toll_for(cars, lav, days)) == (2 * (mean - spec.FREE_CARS) ** 2 if crowded else 0)


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("SELECT exact_sum(x) FROM (SELECT '1/3' AS x UNION ALL SELECT '2/3')", 1),
        ("SELECT exact_mean(x) FROM (SELECT 1 AS x UNION ALL SELECT '1/2' UNION ALL SELECT 0)", "1/2"),
        ("SELECT floor_of('-7/3')", -3),
        ("SELECT rounded('5/2')", 3),
        ("SELECT rounded(NULL)", None),
        (f"SELECT quotient({exact.LARGEST}, 2)", f"{exact.LARGEST}/2"),
        (f"SELECT plus({exact.LARGEST}, 1)", f"{exact.LARGEST + 1}/1"),
    ],
)
def test_in_sql(query: str, value: object) -> None:
    connection = sqlite3.connect(":memory:")
    exact.add_functions(connection)
    assert connection.execute(query).fetchone() == (value,)
    connection.close()
