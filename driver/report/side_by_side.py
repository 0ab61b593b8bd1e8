"""Columns under their names, for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from polling_baseline.wording import WIDTH

Row = tuple[str, list[str]]
# The blanks before a column.
GAP = 3


def side_by_side(names: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """Columns under their names; a long name takes several lines, and what does not fit goes below."""
    wide = max(len(name) for name, _ in rows)
    room = (WIDTH - wide) // len(names) - GAP
    columns = [_column(name, [cells[number] for _, cells in rows], room) for number, name in enumerate(names)]
    tall = max(map(len, columns))
    labels = ["" for _ in range(tall - len(rows))] + [name for name, _ in rows]
    blocks: list[list[str]] = []
    for column in columns:
        column = ["" for _ in range(tall - len(column))] + column
        width = GAP + max(map(len, column))
        if not blocks or len(blocks[-1][0]) + width > WIDTH:
            blocks.append([f"{label:<{wide}}" for label in labels])
        blocks[-1] = [f"{line}{cell:>{width}}" for line, cell in zip(blocks[-1], column, strict=True)]
    return [line for block in blocks for line in ("", *block)][1:]


def _column(name: str, cells: Sequence[str], room: int) -> list[str]:
    """A name, folded where there is less room than it takes, and the cells."""
    return [*textwrap.wrap(name, max(room, *map(len, [*name.split(), *cells]))), *cells]
