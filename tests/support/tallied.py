"""What a judgement has counted of each answer that it looked at."""

from __future__ import annotations

from collections.abc import Iterator

from driver.validate.judge import Judgement


def tallied(judgement: Judgement) -> Iterator[dict[str, int]]:
    """A row per answer that is expected or came, in the minutes that have any fault."""
    if judgement.comparison is None:
        return
    for columns in judgement.comparison.each(lambda number, tallied, expected, came: tallied):
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        yield from (dict(zip(columns, row, strict=True)) for row in rows)
