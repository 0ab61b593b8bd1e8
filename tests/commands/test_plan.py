"""`lrb plan`: a forecast whose arithmetic can be followed."""

from __future__ import annotations

import re

import pytest

from driver.cli import main
from driver.rating.plan import REPORTS_PER_XWAY, Costs, forecast


def test_the_arithmetic() -> None:
    """Half a second of 2.5 is the floor's, so 0.8 s of each second are left."""
    plan = forecast(Costs(floor_s=0.5, driver_s=1e-6, shard_s=6e-6, source=""), cores=2)
    assert plan.share == pytest.approx(0.8)
    assert plan.report_s == pytest.approx(4e-6)
    assert plan.reports_per_s == pytest.approx(200_000)
    assert plan.xways in (99, 100)
    assert plan.most_xways == pytest.approx(0.8e6 / REPORTS_PER_XWAY, abs=1)


def test_what_it_prints(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--cores", "2,16,100", "--engine", "structured_streaming"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("FORECAST  engine structured_streaming, one shard per core; costs measured on 2 cores")
    xways = [int(number) for number in re.findall(r"cores .* L = (\d+) at 2,000 each", out)]
    assert len(xways) == 3 and xways == sorted(xways)
    [most] = re.findall(r"past L = (\d+) no worker helps", out)
    assert xways[-1] <= int(most)


@pytest.mark.parametrize("cores", ["0", "two", "2,", "-1"])
def test_refusals(cores: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", f"--cores={cores}"]) == 1
    assert f"--cores must be numbers from 1 on, with commas between, not {cores}" in capfd.readouterr().err
