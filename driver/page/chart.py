"""Charts as SVG within the page: curves over time, and maps of coloured cells.

Each has axes with units, a caption, a legend and a text alternative.  Coordinates are a fixed 720 by 300; the page
scales them, and sets their letters larger on a phone.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from driver.page.frame import Markup

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 76, 20, 30, 52
COLOURS = 4
# Viridis, dark to light: even in steps of lightness, and the same order to every eye.
VIRIDIS = ("440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725")
NO_DATA = 255


@dataclass(frozen=True, slots=True)
class Axis:
    """What runs along one side: its name with the unit, and its two ends."""

    label: str
    low: float
    high: float

    @property
    def ticks(self) -> list[float]:
        """Four to eight round numbers between the ends."""
        span = max(self.high - self.low, 1e-9)
        power = 10.0 ** math.floor(math.log10(span / 4))
        step = next(factor * power for factor in (5, 2, 1) if span / (factor * power) >= 4)
        first = math.ceil(self.low / step - 1e-9)
        return [number * step for number in range(first, math.floor(self.high / step + 1e-9) + 1)]


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a chart; a gap where y is NaN."""

    name: str
    x: Sequence[float] | np.ndarray
    y: Sequence[float] | np.ndarray
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """An event on a map, from one x to another at the height y."""

    x_from: float
    x_to: float
    y: float
    text: str


def _x(axis: Axis, value: float) -> float:
    return LEFT + (value - axis.low) / ((axis.high - axis.low) or 1) * (WIDTH - LEFT - RIGHT)


def _y(axis: Axis, value: float) -> float:
    return HEIGHT - BOTTOM - (value - axis.low) / ((axis.high - axis.low) or 1) * (HEIGHT - TOP - BOTTOM)


def _axes(x: Axis, y: Axis, grid: bool = True) -> str:
    """Grid, numbers and names; every second number may vanish where there is little room."""
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [f'<text x="{LEFT - 8}" y="{TOP - 12}" text-anchor="start" dx="-60">{escape(y.label)}</text>']
    for number, tick in enumerate(y.ticks):
        at, minor = _y(y, tick), "minor" * (number % 2)
        reach = right if grid else LEFT - 4
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{reach}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text class="{minor}" x="{LEFT - 6}" y="{at:.1f}" dy=".35em" text-anchor="end">{tick:,g}</text>')
    for number, tick in enumerate(x.ticks):
        at, minor = _x(x, tick), "minor" * (number % 2)
        parts.append(f'<line class="axis" x1="{at:.1f}" x2="{at:.1f}" y1="{bottom}" y2="{bottom + 4}"/>')
        parts.append(
            f'<text class="{minor}" x="{at:.1f}" y="{bottom + 6}" dy="1em" text-anchor="middle">{tick:,g}</text>'
        )
    parts.append(f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/>')
    parts.append(f'<text x="{right}" y="{HEIGHT - 6}" text-anchor="end">{escape(x.label)}</text>')
    return "".join(parts)


def _figure(title: str, description: str, inside: str, legend: Iterable[str]) -> Markup:
    items = "".join(f"<li>{item}</li>" for item in legend)
    return Markup(
        f'<figure><figcaption>{escape(title)}</figcaption>\n<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{inside}</svg>\n"
        f'<ul class="legend">{items}</ul></figure>'
    )


def _path(points: list[tuple[float, float]]) -> str:
    """Straight lines through the points; a new one after each gap."""
    words, pen = [], "M"
    for x, y in points:
        if math.isnan(y):
            pen = "M"
        else:
            words.append(f"{pen}{x:.1f} {y:.1f}")
            pen = "L"
    return "".join(words)


def curves(
    title: str, description: str, x: Axis, y: Axis, lines: Sequence[Curve], limit: tuple[str, float] | None = None
) -> Markup:
    """Lines over a common x; a filled one is an area down to 0 (to stack areas, add up, and give the highest first)."""
    parts, legend = [_axes(x, y)], []
    for number, line in enumerate(lines):
        colour = f"var(--series-{number % COLOURS})"
        points = [(_x(x, float(at)), _y(y, float(value))) for at, value in zip(line.x, line.y, strict=True)]
        if line.filled and points:
            floor = [(points[-1][0], _y(y, 0)), (points[0][0], _y(y, 0))]
            area = _path([point for point in points if not math.isnan(point[1])] + floor)
            parts.append(f'<path class="area" style="fill:{colour}" d="{area}Z"/>')
        parts.append(f'<path class="curve" style="stroke:{colour}" d="{_path(points)}"/>')
        legend.append(f'<span style="background:{colour}"></span>{escape(line.name)}')
    if limit:
        at = _y(y, limit[1])
        parts.append(f'<line class="limit" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(
            f'<text class="limit" x="{WIDTH - RIGHT}" y="{at - 5:.1f}" text-anchor="end">{escape(limit[0])}</text>'
        )
    return _figure(title, description, "".join(parts), legend)


def colour_map(
    title: str, description: str, x: Axis, y: Axis, scale: Axis, cells: np.ndarray, marks: Sequence[Mark], event: str
) -> Markup:
    """Cells by x and y, coloured from dark (the scale's low end) to light; NaN stays empty."""
    image = base64.b64encode(_png(_levels(cells.T[::-1], scale))).decode()
    parts = [
        f'<image x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}" '
        f'preserveAspectRatio="none" href="data:image/png;base64,{image}"/>',
        _axes(x, y, grid=False),
    ]
    for mark in marks:
        height = f"{_y(y, mark.y):.1f}"
        at = f'x1="{_x(x, mark.x_from):.1f}" x2="{_x(x, mark.x_to):.1f}" y1="{height}" y2="{height}"'
        text = f"<title>{escape(mark.text)}</title>"
        parts.append(f'<g>{text}<line class="casing" {at}/><line class="mark" {at}/></g>')
    ends = f"{scale.low:g} to {scale.high:g} {scale.label}"
    gradient = ",".join(f"#{colour}" for colour in VIRIDIS)
    legend = [
        f'<span class="scale" style="background:linear-gradient(90deg,{gradient})"></span>{escape(ends)}',
        '<span class="none"></span>no report',
    ]
    if marks:
        legend.append(f'<span class="event"></span>{escape(event)}')
    return _figure(title, description, "".join(parts), legend)


def _levels(cells: np.ndarray, scale: Axis) -> np.ndarray:
    share = np.clip((cells - scale.low) / ((scale.high - scale.low) or 1), 0, 1)
    return np.where(np.isnan(cells), NO_DATA, np.nan_to_num(share) * (NO_DATA - 1)).astype(np.uint8)


def _png(levels: np.ndarray) -> bytes:
    """A picture of one byte per cell: 0 to 254 along Viridis, 255 clear."""
    stops = np.array([list(bytes.fromhex(colour)) for colour in VIRIDIS], float)
    at = np.linspace(0, len(stops) - 1, NO_DATA)
    palette = np.stack([np.interp(at, np.arange(len(stops)), stops[:, part]) for part in range(3)], axis=1)
    height, width = levels.shape
    rows = np.hstack([np.zeros((height, 1), np.uint8), levels])
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", palette.round().astype(np.uint8).tobytes() + b"\0\0\0"),
        (b"tRNS", b"\xff" * NO_DATA + b"\0"),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    packed = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)
