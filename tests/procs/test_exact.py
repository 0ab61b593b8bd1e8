"""lr.exact(value)"""

from __future__ import annotations

from decimal import Decimal

import pytest


@pytest.mark.parametrize("value", ["0", "1", "-7", "0.5", "9223372036854775807"])
def test_the_value_stays(sql, value):
    assert sql("SELECT lr.exact(%s)", Decimal(value)) == [(Decimal(value),)]


@pytest.mark.parametrize(("dividend", "divisor"), [(1, 3), (100, 7), (2 * 570 * 100, 571), (60 * 69, 1)])
def test_a_quotient_has_40_decimals(sql, dividend, divisor):
    [(error,)] = sql("SELECT abs(lr.exact(%s) / %s * %s - %s)", dividend, divisor, divisor, dividend)
    assert error < Decimal("1e-35")
