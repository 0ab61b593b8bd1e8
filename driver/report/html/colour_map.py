"""Maps of coloured cells, as a picture within the chart."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from driver.report.html.axis import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, axes, figure, x_at, y_at
from driver.report.html.frame import Markup

# Viridis, dark to light: even in steps of lightness, and the same order to every eye.
VIRIDIS = ("440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725")
NO_DATA = 255


@dataclass(frozen=True, slots=True)
class Mark:
    """An event on a map, from one x to another at the height y."""

    x_from: float
    x_to: float
    y: float
    text: str


def colour_map(
    title: str,
    description: str,
    x: Axis,
    y: Axis,
    scale: Axis,
    cells: np.ndarray,
    marks: Sequence[Mark] = (),
    event: str = "",
    empty: str = "no report",
) -> Markup:
    """Cells by x and y, coloured from dark (the scale's low end) to light; NaN stays empty."""
    image = base64.b64encode(_png(_levels(cells.T[::-1], scale))).decode()
    parts = [
        f'<image x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}" '
        f'preserveAspectRatio="none" href="data:image/png;base64,{image}"/>',
        axes(x, y, grid=False),
    ]
    for mark in marks:
        height = f"{y_at(y, mark.y):.1f}"
        at = f'x1="{x_at(x, mark.x_from):.1f}" x2="{x_at(x, mark.x_to):.1f}" y1="{height}" y2="{height}"'
        text = f"<title>{escape(mark.text)}</title>"
        parts.append(f'<g>{text}<line class="casing" {at}/><line class="mark" {at}/></g>')
    ends = f"{scale.low:g} to {scale.high:g} {scale.label}"
    gradient = ",".join(f"#{colour}" for colour in VIRIDIS)
    legend = [
        f'<span class="scale" style="background:linear-gradient(90deg,{gradient})"></span>{escape(ends)}',
        f'<span class="none"></span>{escape(empty)}',
    ]
    if marks:
        legend.append(f'<span class="event"></span>{escape(event)}')
    return figure(title, description, "".join(parts), legend)


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
