"""How long the rest of a reproduction will take, and which limit decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from driver.dataset.folder import Dataset
from driver.rating.paper import BRIEF, ON_REQUEST, VARIANTS
from driver.rating.variant_runs import JUDGING, USUAL_S_PER_XWAY, Plan, Work
from driver.run.config import FOREIGN, RunConfig
from driver.run.engines import Backends


def test_each_variant_has_a_rate_of_its_own() -> None:
    lines: list[str] = []
    tasks = [("2004", 1.0), ("box", 1.0), (JUDGING, 1.0), ("2004", 2.0), ("box", 2.0), (JUDGING, 2.0)]
    usual = USUAL_S_PER_XWAY
    work = Work(tasks, lines.append)
    work.begin("2004 at L = 1")
    work.end("2004", 1.0, 2.0 * usual["2004"])
    # Nobody else is known yet: all take twice as long as usual.
    assert work.left_s() == pytest.approx(2 * (usual["box"] * 3 + usual[JUDGING] * 3 + usual["2004"] * 2))
    work.take_over("box at L = 1", "box", 1.0, 60.0)
    work.end(JUDGING, 1.0, 30.0)
    # Now everything is.
    assert work.left_s() == pytest.approx(60 * 2 + 30 * 2 + 2 * usual["2004"] * 2)
    work.begin("2004 at L = 2")
    work.end("2004", 2.0, 1800.0)
    assert work.left_s() == 60 * 2 + 30 * 2
    # A run of an earlier version does not say what it took.
    work.end("box", 2.0, None)
    work.end(JUDGING, 2.0, None)
    assert work.left_s() == 0
    assert lines == ["2004 at L = 1", "box at L = 1: taken over", "2004 at L = 2; about 39 min left"]


def test_every_variant_has_a_usual_time() -> None:
    assert set(USUAL_S_PER_XWAY) == {JUDGING, *(variant.name for variant in (*VARIANTS, *ON_REQUEST)), *FOREIGN}


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
