"""How long the rest of a reproduction will take, and which limit decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from driver.dataset.folder import Dataset
from driver.rating.paper import BRIEF, VARIANTS
from driver.rating.variant_runs import JUDGING, Plan, Work
from driver.run.config import RunConfig
from driver.run.engines import Backends


def test_each_variant_has_a_rate_of_its_own() -> None:
    lines: list[str] = []
    tasks = [("slow", 1.0), ("quick", 1.0), (JUDGING, 1.0), ("slow", 2.0), ("quick", 2.0), (JUDGING, 2.0)]
    work = Work(tasks, lines.append)
    work.begin("slow at L = 1")
    work.end("slow", 1.0, 600.0)
    # Nobody else is known yet: all are as slow as that.
    assert work.left_s() == 600 * (1 + 1 + 2 + 2 + 2)
    work.take_over("quick at L = 1", "quick", 1.0, 60.0)
    # What is not known is the mean of what is.
    assert work.left_s() == 330 * (1 + 2) + 600 * 2 + 60 * 2
    work.end(JUDGING, 1.0, 30.0)
    work.begin("slow at L = 2")
    work.end("slow", 2.0, 1800.0)
    assert work.left_s() == 60 * 2 + 30 * 2
    # A run of an earlier version does not say what it took.
    work.end("quick", 2.0, None)
    work.end(JUDGING, 2.0, None)
    assert work.left_s() == 0
    assert lines == ["slow at L = 1", "quick at L = 1: taken over", "slow at L = 2; about 23 min left"]


@pytest.mark.parametrize(
    ("limits", "ignore", "limit_s"),
    [
        ({}, ("travel_time",), 5),
        ({"toll": 3}, (), 3),
        # The others stay as specified.
        ({"toll": 15}, (), 5),
        ({"toll": 15, "accident": 15, "balance": 60, "expenditure": 90, "travel_time": 120}, (), 15),
        # Who is not asked cannot be late.
        ({"travel_time": 1}, ("travel_time",), 5),
    ],
)
def test_the_shortest_limit_decides(limits: dict[str, float], ignore: tuple[str, ...], limit_s: float) -> None:
    def config_for(variant: object, xways: float, slower: float) -> RunConfig:
        return RunConfig("road", xways=xways, slower=slower, ignore=ignore)

    dataset = Dataset(Path("road"), 1.0, 60, None, {}, {})
    plan = Plan(Path(), dataset, config_for, Backends(None, "local[1]", None), print, limits=limits)
    assert plan.limit_s == limit_s


def test_a_first_impression_has_one_run_of_each_system() -> None:
    assert {variant.system.name for variant in VARIANTS if variant.name in BRIEF} == {"System X", "Aurora"}
    assert len(BRIEF) == 2
