"""How long an answer may take: the limits of the specification, or others that an option `--limits` states."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from polling_baseline import spec
from polling_baseline.refusal import Refusal

Limits = Mapping[str, float]
# Those that Tibbetts' thesis of 2003 states for the benchmark.
TIBBETTS: Limits = MappingProxyType({"toll": 15, "accident": 15, "balance": 60, "expenditure": 90, "travel_time": 120})
NAMED: Mapping[str, Limits] = MappingProxyType({"specification": spec.DEADLINE_S, "tibbetts": TIBBETTS})
SHORTEST_S, LONGEST_S, DECIMALS = 0.001, 100_000, 3
FORMS = f"seconds for all kinds, KIND=SECONDS with commas between (KIND is {', '.join(spec.ANSWERS)}), " + " or ".join(
    NAMED
)


def parse_limits(text: str) -> dict[str, float]:
    """The limits that differ from the specification's: `3`, `toll=3,balance=7` or a name; empty if none differs."""
    if text in NAMED:
        return other_limits(NAMED[text])
    if "=" not in text:
        seconds = _seconds(text, text)
        return other_limits(dict.fromkeys(spec.ANSWERS, seconds))
    stated: dict[str, float] = {}
    for part in text.split(","):
        kind, _, seconds_text = part.strip().partition("=")
        if kind not in spec.ANSWERS:
            raise Refusal(f"{text!r}: there is no kind of answer {kind!r}; give {FORMS}")
        if kind in stated:
            raise Refusal(f"{text!r}: {kind} has two limits; give one for each kind")
        stated[kind] = _seconds(seconds_text, text)
    return other_limits(stated)


def _seconds(word: str, text: str) -> float:
    try:
        seconds = float(word)
    except ValueError:
        raise Refusal(f"{text!r}: {word!r} is no number of seconds and no name; give {FORMS}") from None
    # In milliseconds, as response times are measured; not a number is in no range.
    if not (SHORTEST_S <= seconds <= LONGEST_S and seconds == round(seconds, DECIMALS)):
        raise Refusal(f"{text!r}: a limit is {SHORTEST_S} to {LONGEST_S:,} seconds, with {DECIMALS} decimals at most")
    return int(seconds) if seconds.is_integer() else seconds


def limits_in_force(others: Limits = MappingProxyType({})) -> dict[str, float]:
    """A limit for each kind of answer: those stated, else the specification's."""
    return {**spec.DEADLINE_S, **others}


def other_limits(limits: Limits) -> dict[str, float]:
    """Those that differ from the specification's."""
    return {kind: limits[kind] for kind in spec.ANSWERS if kind in limits and limits[kind] != spec.DEADLINE_S[kind]}


def limits_argument(limits: Limits) -> str:
    """What follows `--limits` on a command line."""
    return ",".join(f"{kind}={seconds}" for kind, seconds in other_limits(limits).items()) or "specification"


def describe_limits(limits: Limits) -> str | None:
    """A plain statement of the limits that are not the specification's; None if all of them are."""
    if not (others := other_limits(limits)):
        return None
    named = ", ".join(f"{kind} {seconds} s" for kind, seconds in others.items())
    return f"limits {named} instead of the specification's"
