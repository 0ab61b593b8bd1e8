"""Functions that SQL calls where 64-bit integers do not suffice: per segment and minute, or per request.

An exact number is an integer in SQL, or text such as `7/3` where it is not whole or too large for that.
"""

from __future__ import annotations

import sqlite3
from math import gcd

from polling_baseline import spec

LARGEST = 2**63 - 1
Exact = int | str


def add_functions(connection: sqlite3.Connection) -> None:
    """Make the functions and aggregates of this module known to SQL."""
    for function, arguments in ((quotient, 2), (plus, 2), (floor_of, 1), (rounded, 1), (toll_for, 3)):
        connection.create_function(function.__name__, arguments, function, deterministic=True)
    # The types of the library know aggregates that give integers only.
    connection.create_aggregate("exact_sum", 1, ExactSum)  # type: ignore[arg-type]
    connection.create_aggregate("exact_mean", 1, ExactMean)  # type: ignore[arg-type]


def quotient(dividend: Exact, divisor: int) -> Exact:
    """Of a positive divisor."""
    numerator, denominator = _parts(dividend)
    return _exact(numerator, denominator * divisor)


def plus(one: Exact, other: Exact) -> Exact:
    (numerator, denominator), (more, divisor) = _parts(one), _parts(other)
    return _exact(numerator * divisor + more * denominator, denominator * divisor)


def floor_of(value: Exact) -> int:
    numerator, denominator = _parts(value)
    return numerator // denominator


def rounded(value: Exact | None) -> int | None:
    """The nearest integer, the higher one of two that are as near; NULL of NULL."""
    if value is None:
        return None
    numerator, denominator = _parts(value)
    return (2 * numerator + denominator) // (2 * denominator)


def toll_for(cars: int, lav: int, days: int) -> Exact:
    """Rule 4 where there is no accident ahead, on means: cars and LAV are sums over so many days."""
    crowd = cars - spec.FREE_CARS * days
    return _exact(2 * crowd * crowd, days * days) if crowd > 0 and lav < spec.FREE_FLOW_MPH * days else 0


class ExactSum:
    def __init__(self) -> None:
        self._sum: Exact = 0
        self._count = 0

    def step(self, value: Exact) -> None:
        self._sum = plus(self._sum, value)
        self._count += 1

    def finalize(self) -> Exact:
        return self._sum


class ExactMean(ExactSum):
    def finalize(self) -> Exact:
        return quotient(self._sum, self._count)


def _parts(value: Exact) -> tuple[int, int]:
    """Numerator and denominator."""
    if isinstance(value, int):
        return value, 1
    numerator, _, denominator = value.partition("/")
    return int(numerator), int(denominator)


def _exact(numerator: int, denominator: int) -> Exact:
    """In lowest terms."""
    factor = gcd(numerator, denominator)
    numerator, denominator = numerator // factor, denominator // factor
    return numerator if denominator == 1 and abs(numerator) <= LARGEST else f"{numerator}/{denominator}"
