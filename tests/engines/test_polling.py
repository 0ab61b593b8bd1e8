"""The polling engine gives the right answers: on every hand-made trace, on random roads, however it is driven."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import pytest

from polling_baseline.database.connection import Target
from tests import oracle, traces
from tests.engines.feeding import Answer, Road, answers_of, side_by_side, taken_apart
from tests.random_road import random_history, random_lines

# Workers, and the seconds that a batch may have: one, a longer period's, as many as the rules allow.
WAYS = [
    pytest.param(1, 1, id="one-by-one"),
    pytest.param(2, 1, id="two-workers"),
    pytest.param(1, 29, id="catching-up"),
    pytest.param(2, 4, id="two-workers-period-4"),
    pytest.param(3, 2, id="three-workers-period-2"),
]
SEEDS = range(24)


@lru_cache
def roads() -> dict[str, tuple[Road, Counter[Answer]]]:
    """Each trace and each random road, with the right answers."""
    found = {}
    for name in traces.NAMES:
        trace = traces.load(name)
        found[name] = Road(trace.lines, trace.toll_history, trace.segment_history), Counter(trace.expected)
    for seed in SEEDS:
        road = Road(random_lines(seed), *random_history(seed))
        found[f"seed {seed}"] = road, Counter(oracle.answers(road.lines, road.toll_history, road.segment_history))
    return found


@pytest.mark.parametrize(("workers", "longest"), WAYS)
def test_short_roads(history_database: Target, workers: int, longest: int) -> None:
    assert faults(history_database, workers, longest, long=False) == {}


def test_long_roads(history_database: Target) -> None:
    assert faults(history_database, 1, 29, long=True) == {}


def faults(target: Target, workers: int, longest: int, long: bool) -> dict[str, dict[str, Counter[Answer]]]:
    """What is missing and what is extra, by road; all roads go through the engine side by side."""
    chosen = {name: pair for name, pair in roads().items() if pair[0].long == long}
    apart = [road for road, _ in chosen.values()]
    found = taken_apart(answers_of(target, side_by_side(apart), workers, longest), apart)
    return {
        name: {"missing": right - got, "extra": got - right}
        for (name, (_, right)), got in zip(chosen.items(), found, strict=True)
        if got != right
    }
