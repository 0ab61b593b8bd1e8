"""The search for a rating, with engines whose breaking point is known."""

from __future__ import annotations

import math
import random

import pytest

from driver.rating.search import Search

Outcomes = list[tuple[float, bool]]


def searched(search: Search, passes, outcomes: Outcomes | None = None, steps: int = 1000) -> Outcomes:
    found = list(outcomes or [])
    while len(found) < steps and (xways := search.next(found)) is not None:
        found.append((xways, passes(xways)))
    return found


def rounded_down(xways: float, step: float) -> float:
    return math.floor(xways / step) * step


@pytest.mark.parametrize("start", [0.5, 1.0, 7.5])
@pytest.mark.parametrize("step", [0.5, 2.5])
@pytest.mark.parametrize("limit", [0, 0.3, 0.5, 1, 2.6, 63.9, 64, 64.2, 100, 999.9])
def test_the_breaking_point_is_found(limit: float, step: float, start: float) -> None:
    search = Search(start - start % step or step, step)
    found = searched(search, lambda xways: xways <= limit)
    assert search.best(found) == rounded_down(limit, step)
    assert search.loser(found) == rounded_down(limit, step) + step
    # Doubling up, bisecting down, and the last failure once more; nothing else is tried twice.
    assert len(found) <= 2 * math.log2(max(limit, start, 1) / step) + 5
    assert len({xways for xways, _ in found}) == len(found) - 1


def test_the_order_of_the_steps() -> None:
    found = searched(Search(1, 0.5), lambda xways: xways <= 5.5)
    assert [xways for xways, _ in found] == [1, 2, 4, 8, 6, 5, 5.5, 6]


def test_it_ends_with_the_most_that_is_wanted() -> None:
    search = Search(1, 0.5, most=6)
    found = searched(search, lambda xways: True)
    assert ([xways for xways, _ in found], search.best(found), search.loser(found)) == ([1, 2, 4, 6], 6, None)


def test_one_failure_by_chance_does_no_harm() -> None:
    """Whichever candidate it is that fails once for no reason."""
    for unlucky in range(12):
        tried = []

        def passes(xways: float, tried: list[float] = tried, unlucky: int = unlucky) -> bool:
            tried.append(xways)
            return xways <= 37.5 and len(tried) - 1 != unlucky

        search = Search()
        assert search.best(searched(search, passes)) == 37.5, unlucky


def test_noise_costs_precision_only_near_the_breaking_point() -> None:
    """An engine that may fail from 95 % of what it can do: the rating lies in that range."""
    for seed in range(200):
        rng = random.Random(seed)
        search = Search()
        found = searched(search, lambda xways, rng=rng: xways < 38 or (xways <= 40 and rng.random() < 0.5))
        assert 37.5 <= search.best(found) <= 40
        assert len(found) < 30


def test_it_goes_on_after_an_interruption() -> None:
    search = Search()
    whole = searched(search, lambda xways: xways <= 22)
    for steps in range(len(whole)):
        begun = searched(search, lambda xways: xways <= 22, steps=steps)
        assert begun + searched(search, lambda xways: xways <= 22, begun)[steps:] == whole
