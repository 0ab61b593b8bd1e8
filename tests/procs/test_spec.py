"""The numbers of sql/015_spec.sql are those of spec.py"""

from __future__ import annotations

import re

import pytest

from polling_baseline import spec
from polling_baseline.database.install import ROOT

NAMES = re.findall(r"CREATE FUNCTION lr\.(\w+)", (ROOT / "sql" / "015_spec.sql").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_a_number_is_that_of_the_specification(sql, name):
    [(number,)] = sql(f"SELECT lr.{name}()")
    right = getattr(spec, name.removesuffix("_kind").upper())
    assert number == (list(right) if isinstance(right, tuple) else right)


def test_a_plan_has_the_number_itself(sql):
    plan = " ".join(
        line for (line,) in sql("EXPLAIN VERBOSE SELECT FROM lr.request WHERE kind = lr.balance_kind() + lr.minute_s()")
    )
    assert f"kind = {spec.BALANCE + spec.MINUTE_S}" in plan


def test_the_ring_holds_a_minute_and_what_a_worker_may_be_ahead_or_behind(sql):
    assert sql("SELECT lr.ring_seconds()") == [(spec.MINUTE_S + 2 * spec.REPORT_PERIOD_S,)]
