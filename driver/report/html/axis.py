"""What every chart stands in: two axes, a caption, a legend and a text alternative.

Coordinates are a fixed 720 by 300; the page scales them, and sets their letters larger where there is little room.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from driver.report.html.frame import Markup

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 76, 20, 34, 52
FEW_DECADES = 2.5


@dataclass(frozen=True, slots=True)
class Axis:
    """What runs along one side: its name with the unit, and its two ends.

    On a `log` axis both ends are above 0.  `marks` are the numbers to write, if not round ones, each with its text.
    """

    label: str
    low: float
    high: float
    log: bool = False
    marks: tuple[tuple[float, str], ...] = ()

    def share(self, value: float) -> float:
        """Where a value lies between the ends, from 0 to 1; what lies beyond them is put on the end."""
        if math.isnan(value) or self.high <= self.low:
            return value if math.isnan(value) else 0.0
        if self.log:
            place = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            place = (value - self.low) / (self.high - self.low)
        return min(max(place, 0.0), 1.0)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """The numbers to write, with their texts."""
        if self.marks:
            return list(self.marks)
        return [(tick, f"{tick:,g}") for tick in (self._decades() if self.log else self._round_numbers())]

    def _round_numbers(self) -> list[float]:
        """Four to eight round numbers between the ends."""
        span = max(self.high - self.low, 1e-9)
        power = 10.0 ** math.floor(math.log10(span / 4))
        step = next(factor * power for factor in (5, 2, 1) if span / (factor * power) >= 4)
        first = math.ceil(self.low / step - 1e-9)
        return [number * step for number in range(first, math.floor(self.high / step + 1e-9) + 1)]

    def _decades(self) -> list[float]:
        """Powers of ten; 2 and 5 times them as well where they are few."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        factors = (1, 2, 5) if math.log10(self.high / self.low) < FEW_DECADES else (1,)
        ticks = [float(f"{factor}e{power}") for power in range(first, last + 1) for factor in factors]
        return [tick for tick in ticks if self.low * 0.999 <= tick <= self.high * 1.001]


def x_at(axis: Axis, value: float) -> float:
    return LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT)


def y_at(axis: Axis, value: float) -> float:
    return HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - TOP - BOTTOM)


def axes(x: Axis, y: Axis, grid: bool = True) -> str:
    """Grid, numbers and names; every second number may vanish where there is little room."""
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [f'<text x="{LEFT - 8}" y="{TOP - 14}" text-anchor="start" dx="-60">{escape(y.label)}</text>']
    for number, (tick, text) in enumerate(y.ticks):
        at, minor = y_at(y, tick), "minor" * (number % 2)
        reach = right if grid else LEFT - 4
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{reach}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text class="{minor}" x="{LEFT - 6}" y="{at:.1f}" dy=".35em" text-anchor="end">{text}</text>')
    for number, (tick, text) in enumerate(x.ticks):
        at, minor = x_at(x, tick), "minor" * (number % 2)
        parts.append(f'<line class="axis" x1="{at:.1f}" x2="{at:.1f}" y1="{bottom}" y2="{bottom + 4}"/>')
        parts.append(f'<text class="{minor}" x="{at:.1f}" y="{bottom + 6}" dy="1em" text-anchor="middle">{text}</text>')
    parts.append(f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/>')
    parts.append(f'<text x="{right}" y="{HEIGHT - 6}" text-anchor="end">{escape(x.label)}</text>')
    return "".join(parts)


def figure(title: str, description: str, inside: str, legend: Iterable[str]) -> Markup:
    items = "".join(f"<li>{item}</li>" for item in legend)
    return Markup(
        f'<figure><figcaption>{escape(title)}</figcaption>\n<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{inside}</svg>\n"
        f'<ul class="legend">{items}</ul></figure>'
    )
