"""L, the number of expressways, and some of them by their numbers: the one rule for whoever takes or reads them."""

from __future__ import annotations

from collections.abc import Sequence

from polling_baseline import spec
from polling_baseline.refusal import Refusal

RULE = f"a multiple of 0.5 from 0.5 to {spec.MAX_XWAYS}"


def is_length(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0.5 <= value <= spec.MAX_XWAYS and value % 0.5 == 0  # type: ignore[operator]


def describe_part(xways: str | Sequence[int]) -> str:
    """Which expressways a verdict is about; nothing if about all."""
    if isinstance(xways, str):
        return ""
    return f"expressway{'s' if len(xways) != 1 else ''} {','.join(map(str, xways))} only"


def check_length(xways: float | str) -> float:
    """L as a number, also from text; refuses what L cannot be."""
    try:
        length = float(xways)
    except ValueError:
        length = 0.0
    if not is_length(length):
        shown = xways if isinstance(xways, str) else f"{xways:g}"
        raise Refusal(f"L must be {RULE}, not {shown}")
    return length


def parse_numbers(text: str, known: Sequence[int], owner: str) -> list[int]:
    """The expressways that `--xways 0,3` names, each once, in that order; `owner` must have them."""
    try:
        chosen = [int(word) for word in text.split(",")]
    except ValueError:
        raise Refusal(f"--xways {text}: give numbers with commas between, such as 0,3") from None
    for xway in chosen:
        if xway not in known:
            others = f"{known[0]} to {known[-1]}" if known else "none"
            raise Refusal(f"--xways {text}: {owner} has no expressway {xway}; it has {others}")
    return list(dict.fromkeys(chosen))
