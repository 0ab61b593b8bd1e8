"""The search for the largest L that passes: doubling, then bisection, and a second chance for the last failure.

It has no state but the outcomes so far, in their order.  So it goes on after an interruption as if there had been none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Search:
    """Where to begin, how fine to look, and where to end; all are multiples of `step`."""

    start: float = 1.0
    step: float = 0.5
    most: float = 1000.0

    def next(self, outcomes: Iterable[tuple[float, bool]]) -> float | None:
        """The next L to try, or None when the answer is known.

        Chance makes a system fail that could pass, not the reverse: one pass counts more than any failure, and the
        failure next to the best pass is tried once more before it is believed.
        """
        low, high, times = self._bounds(outcomes)
        if high is None:
            return None if low >= self.most else min(self.most, 2 * low or self.start)
        if round((high - low) / self.step) > 1:
            return low + round((high - low) / self.step) // 2 * self.step
        return high if times == 1 else None

    def next_near(self, outcomes: Iterable[tuple[float, bool]], edge: float) -> float | None:
        """The next L to try in a search that begins where another one has ended, step by step."""
        tried = list(outcomes)
        low, high, times = self._bounds(tried)
        if not tried:
            return edge
        if high is None:
            return None if low >= self.most else low + self.step
        if round((high - low) / self.step) > 1:
            return high - self.step
        return high if times == 1 else None

    def best(self, outcomes: Iterable[tuple[float, bool]]) -> float:
        """The largest L that passed; 0 if none did."""
        return self._bounds(outcomes)[0]

    def loser(self, outcomes: Iterable[tuple[float, bool]]) -> float | None:
        """The smallest L that failed, above all that passed."""
        return self._bounds(outcomes)[1]

    def _bounds(self, outcomes: Iterable[tuple[float, bool]]) -> tuple[float, float | None, int]:
        """The largest L that passed, the smallest larger one that failed, and how often it did."""
        tried = list(outcomes)
        low = max((xways for xways, passed in tried if passed), default=0.0)
        failures = Counter(xways for xways, passed in tried if not passed and xways > low)
        high = min(failures, default=None)
        return low, high, failures[high] if high else 0
