"""How numbers, times and commands are written for people."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence

# Columns of a terminal that a table may take.
WIDTH = 100
# A response time has six decimals at most.
MOST_DECIMALS = 6
WIDEST_GAP = 3
# What is shown of a line from outside.
TEXT_CUT = 200


def format_count(number: int, noun: str, width: int = 0) -> str:
    """`1 worker`, `2 workers`, `1,234 workers`."""
    return f"{number:>{width},} {noun}{'s' if number != 1 else ''}"


def format_seconds(seconds: float, limit_s: float, decimals: int = 3) -> str:
    """A response time, with as many more decimals as it takes to see that it is above its limit."""
    if decimals < MOST_DECIMALS and round(seconds, decimals) <= limit_s < seconds:
        return format_seconds(seconds, limit_s, decimals + 1)
    return f"{seconds:,.{decimals}f}"


def format_command(*words: object) -> str:
    """`lrb` and these words, to be pasted into a shell; on one line whatever is in them."""
    return " ".join(["lrb", *(_quoted(str(word)) for word in words)])


def _quoted(word: str) -> str:
    if word.isprintable():
        return shlex.quote(word)
    escaped = "".join(
        chr(code) if 32 <= code < 127 and code not in b"\\'" else f"\\{code:03o}" for code in os.fsencode(word)
    )
    return f"$'{escaped}'"


def format_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table: names to the left, numbers to the right, as far apart as WIDTH allows."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    gap = max(1, min(WIDEST_GAP, (WIDTH - sum(widths)) // max(1, len(head) - 1)))
    return [
        f"{line[0]:<{widths[0]}}"
        + "".join(f"{cell:>{gap + width}}" for cell, width in zip(line[1:], widths[1:], strict=True))
        for line in lines
    ]


def fold_parts(label: str, parts: Iterable[str]) -> list[str]:
    """The parts in lines of at most WIDTH columns; the label stands before the first, blanks before the others."""
    lines = [""]
    for part in parts:
        longer = f"{lines[-1]}   {part}" if lines[-1] else part
        if lines[-1] and len(label) + len(longer) > WIDTH:
            lines.append(part)
        else:
            lines[-1] = longer
    return [f"{'' if number else label:<{len(label)}}{line}" for number, line in enumerate(lines)]


def printable(text: bytes) -> str:
    """The beginning of a line from outside as it may be shown anywhere: what is not text is escaped."""
    shown = text[:TEXT_CUT].decode("utf-8", "backslashreplace")
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", lambda match: f"\\x{ord(match[0]):02x}", shown)
