"""Charts of curves and areas over a common x, as SVG within the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape

import numpy as np

from driver.report.html.axis import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, axes, figure, x_at, y_at
from driver.report.html.frame import Markup

Numbers = Sequence[float] | np.ndarray
Point = tuple[float, float]
# A point that no line goes through, by its look: a ring for what is thin, around the others if they coincide.
POINT_RADIUS = 4
RADIUS = {"thin": 6, "dotted": 2.5}


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a chart, with a gap where y is NaN; `filled` down to `floor`, or to the bottom.

    `look` names classes of the style sheet: thin, dotted, dashed, faint, solid, and bare for an area without an edge.
    A curve without a name is not in the legend.
    """

    name: str
    x: Numbers
    y: Numbers
    filled: bool = False
    floor: Numbers | None = None
    colour: str = ""
    look: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What a pointer over a part of the chart is told."""

    x_from: float
    x_to: float
    text: str


def curves(
    title: str,
    description: str,
    x: Axis,
    y: Axis,
    lines: Sequence[Curve],
    limit: tuple[str, float] | None = None,
    notes: Sequence[Note] = (),
    keys: Sequence[Curve] = (),
) -> Markup:
    """Lines and areas, the first at the back; `keys` stand in the legend only, as they would be drawn."""
    coloured = [line if line.colour else replace(line, colour=series(number)) for number, line in enumerate(lines)]
    parts = [axes(x, y), *(_drawn(line, x, y) for line in coloured)]
    if limit:
        parts.append(_limit(y, *limit))
    for note in notes:
        left, right = x_at(x, note.x_from), x_at(x, note.x_to)
        parts.append(
            f'<rect class="note" x="{left:.1f}" y="{TOP}" width="{right - left:.1f}" '
            f'height="{HEIGHT - TOP - BOTTOM}"><title>{escape(note.text)}</title></rect>'
        )
    return figure(title, description, "".join(parts), [_key(line) for line in (*coloured, *keys) if line.name])


def series(number: int) -> str:
    return f"var(--series-{number % 8})"


def stacked(layers: Sequence[Curve]) -> list[Curve]:
    """Areas of a common x on top of one another, the first at the bottom."""
    sums = np.cumsum([np.asarray(layer.y, float) for layer in layers], axis=0)
    floors = [np.zeros_like(sums[0]), *sums[:-1]] if len(layers) else []
    return [
        replace(layer, y=above, floor=below, filled=True, look="solid bare")
        for layer, above, below in zip(layers, sums, floors, strict=True)
    ]


def levels(ends: Numbers, values: Numbers) -> tuple[np.ndarray, np.ndarray]:
    """x and y of a curve that keeps each value for the unit of x that ends there; units left out stay empty."""
    x = np.stack([np.asarray(ends, float) - 1, np.asarray(ends, float)], axis=1)
    y = np.stack([np.asarray(values, float)] * 2, axis=1)
    gaps = np.flatnonzero(x[1:, 0] > x[:-1, 1] + 1e-9) + 1
    return np.insert(x, gaps, np.nan, axis=0).ravel(), np.insert(y, gaps, np.nan, axis=0).ravel()


def _drawn(line: Curve, x: Axis, y: Axis) -> str:
    above = [(x_at(x, float(at)), y_at(y, float(value))) for at, value in zip(line.x, line.y, strict=True)]
    parts = []
    if line.filled:
        floor = [y.low] * len(above) if line.floor is None else line.floor
        below = [y_at(y, float(value)) for value in floor]
        parts.append(f'<path class="area {line.look}" style="fill:{line.colour}" d="{_area(above, below)}"/>')
    if "bare" not in line.look:
        parts.append(f'<path class="curve {line.look}" style="stroke:{line.colour}" d="{_path(above)}"/>')
        parts += [_point(line, *above[first]) for first, last in _pieces(above) if last - first == 1]
    return "".join(parts)


def _point(line: Curve, x: float, y: float) -> str:
    """What has no neighbour to draw a line to."""
    return (
        f'<circle class="point {line.look}" style="color:{line.colour}" cx="{x:.1f}" cy="{y:.1f}" '
        f'r="{RADIUS.get(line.look, POINT_RADIUS)}"/>'
    )


def _is_points(line: Curve) -> bool:
    pieces = list(_pieces([(0.0, float(value)) for value in line.y]))
    return bool(pieces) and all(last - first == 1 for first, last in pieces)


def _pieces(points: Sequence[Point]) -> Iterator[tuple[int, int]]:
    """From and to of each stretch without a gap."""
    first = None
    for number, (_, y) in enumerate([*points, (0.0, math.nan)]):
        if math.isnan(y):
            if first is not None:
                yield first, number
            first = None
        elif first is None:
            first = number


def _path(points: Sequence[Point]) -> str:
    """Straight lines through the points."""
    pieces = [points[first:last] for first, last in _pieces(points) if last - first > 1]
    return "".join("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in piece) for piece in pieces)


def _area(above: Sequence[Point], below: Sequence[float]) -> str:
    words = []
    for first, last in _pieces(above):
        back = [(above[number][0], below[number]) for number in reversed(range(first, last))]
        words.append("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in [*above[first:last], *back]) + "Z")
    return "".join(words)


def _limit(y: Axis, text: str, value: float) -> str:
    """A line across the chart; its text alone where the value is far above it."""
    right = WIDTH - RIGHT
    if value > y.high:
        return (
            f'<text class="limit" x="{right}" y="{TOP - 14}" text-anchor="end">{escape(text)}, above this chart</text>'
        )
    at = y_at(y, value)
    return (
        f'<line class="limit" x1="{LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}"/>'
        f'<text class="limit" x="{right}" y="{at - 5:.1f}" text-anchor="end">{escape(text)}</text>'
    )


def _key(line: Curve) -> str:
    """The sample of a curve in the legend."""
    kind = "point" if _is_points(line) else "line"
    sample = (
        f'style="background:{line.colour}"'
        if line.filled
        else f'class="{kind} {line.look}" style="color:{line.colour}"'
    )
    return f"<span {sample}></span>{escape(line.name)}"
