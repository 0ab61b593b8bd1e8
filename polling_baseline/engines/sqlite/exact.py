"""Functions that SQL calls where 64-bit integers do not suffice: per segment and minute, or per request.

An exact number is an integer in SQL, or text such as `7/3` where it is not whole or too large for that.
"""

from __future__ import annotations

import sqlite3
from fractions import Fraction

from polling_baseline import spec

LARGEST = 2**63 - 1
Exact = int | str


def add_functions(connection: sqlite3.Connection) -> None:
    """Make the functions and aggregates of this module known to SQL."""
    for function, arguments in ((quotient, 2), (plus, 2), (floor_of, 1), (rounded, 1), (toll_for, 2)):
        connection.create_function(function.__name__, arguments, function, deterministic=True)
    # The types of the library know aggregates that give integers only.
    connection.create_aggregate("exact_sum", 1, ExactSum)  # type: ignore[arg-type]
    connection.create_aggregate("exact_mean", 1, ExactMean)  # type: ignore[arg-type]


def quotient(dividend: Exact, divisor: int) -> Exact:
    return _to_sql(_from_sql(dividend) / divisor)


def plus(one: Exact, other: Exact) -> Exact:
    return _to_sql(_from_sql(one) + _from_sql(other))


def floor_of(value: Exact) -> int:
    return value if isinstance(value, int) else _from_sql(value) // 1


def rounded(value: Exact | None) -> int | None:
    """The nearest integer, the higher one of two that are as near; NULL of NULL."""
    return None if value is None else (2 * _from_sql(value) + 1) // 2


def toll_for(cars: Exact, lav: Exact) -> Exact:
    """Rule 4, where there is no accident ahead."""
    crowd = _from_sql(cars) - spec.FREE_CARS
    return _to_sql(2 * crowd * crowd) if crowd > 0 and _from_sql(lav) < spec.FREE_FLOW_MPH else 0


class ExactSum:
    def __init__(self) -> None:
        self._sum, self._count = Fraction(), 0

    def step(self, value: Exact) -> None:
        self._sum += _from_sql(value)
        self._count += 1

    def finalize(self) -> Exact:
        return _to_sql(self._sum)


class ExactMean(ExactSum):
    def finalize(self) -> Exact:
        return _to_sql(self._sum / self._count)


def _from_sql(value: Exact) -> Fraction:
    if isinstance(value, int):
        return Fraction(value)
    numerator, denominator = value.split("/")
    return Fraction(int(numerator), int(denominator))


def _to_sql(value: Fraction) -> Exact:
    if value.denominator == 1 and abs(value.numerator) <= LARGEST:
        return value.numerator
    return f"{value.numerator}/{value.denominator}"
