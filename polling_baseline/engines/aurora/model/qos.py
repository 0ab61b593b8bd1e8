"""Quality of service: what an output is worth, by its delay, by the share delivered and by the values in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Graph:
    """A utility between 0 and 1, straight between the points and level beyond them."""

    points: tuple[tuple[float, float], ...]

    def utility(self, x: float) -> float:
        xs, ys = zip(*self.points, strict=True)
        return float(np.interp(x, xs, ys))

    def slope(self, x: float) -> float:
        """What is gained per unit to the right of x; below 0 where utility is being lost."""
        for (x0, y0), (x1, y1) in zip(self.points, self.points[1:], strict=False):
            if x0 <= x < x1:
                return (y1 - y0) / (x1 - x0)
        return 0.0

    @property
    def good_until(self) -> float:
        """The end of the good zone: up to there, the utility is as high as it gets."""
        best = max(y for _, y in self.points)
        return max(x for x, y in self.points if y == best)


@dataclass(frozen=True, slots=True)
class Quality:
    """The graphs of one output: by delay in seconds, by share delivered, by the value in the tuples."""

    delay: Graph
    delivered: Graph = Graph(((0.0, 0.0), (1.0, 1.0)))
    value: Graph | None = None


@dataclass(slots=True)
class Service:
    """What one output has delivered, and how it was served."""

    quality: Quality
    tuples: int = 0
    utility_sum: float = 0.0
    longest_s: float = 0.0
    # The longest delay since the monitor last looked, and the longest between its last two looks.
    latest_s: float = 0.0
    recent_s: float = 0.0
    beyond: int = 0

    def deliver(self, rows: int, delay_s: float) -> None:
        self.tuples += rows
        self.utility_sum += rows * self.quality.delay.utility(delay_s)
        self.longest_s = max(self.longest_s, delay_s)
        self.latest_s = max(self.latest_s, delay_s)
        if delay_s > self.quality.delay.good_until:
            self.beyond += rows

    def look(self) -> float:
        """The longest delay since the last look."""
        self.recent_s, self.latest_s = self.latest_s, 0.0
        return self.recent_s

    def facts(self) -> dict[str, object]:
        return {
            "tuples": self.tuples,
            "utility": round(self.utility_sum / self.tuples, 4) if self.tuples else None,
            "longest_s": round(self.longest_s, 4),
            "beyond_good_zone": self.beyond,
            "good_until_s": self.quality.delay.good_until,
        }
