"""A verdict for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from driver.dataset.expressways import describe_part
from driver.run.limits import describe_limits
from driver.run.verdict import Verdict, limits_of
from polling_baseline.wording import WIDTH, format_count, format_seconds, format_table

if TYPE_CHECKING:
    from driver.validate.live.live_judge import MinuteVerdict

# What came of each kind of answer, and when.
CONTENT = ("expected", "received", "missing", "extra", "duplicate", "wrong")
IN_TIME = ("late", "early")
TIMES = ("p50", "p90", "p99", "p99.9", "max")


def text(verdict: Verdict) -> list[str]:
    """The verdict for a terminal: what it is, then what came of each kind of answer and when, then what is odd."""
    lenient = " (leniently)" if verdict["lenient"] else ""
    first, last = verdict["minutes"]
    part = describe_part(verdict["xways"])
    by = f" by {verdict['reading']}" if "reading" in verdict else ""
    words = [f"{verdict['verdict']}{lenient}{by}", verdict["dataset"]["name"], f"minutes {first} to {last}"]
    content = (*CONTENT, "lenient") if verdict["lenient"] else CONTENT
    answers: Mapping[str, Mapping[str, Any]] = verdict["answers"]
    limits = limits_of(verdict)
    others = describe_limits(limits)
    return [
        "   ".join([*words, part] if part else words),
        *textwrap.wrap(others or "", WIDTH),
        "",
        *format_table(
            ("answer", *content),
            [(kind, *(f"{counts[name]:,}" for name in content)) for kind, counts in answers.items()],
        ),
        "",
        *format_table(
            ("answer", *IN_TIME, *TIMES, "limit (s)"),
            [_times(kind, counts, limits[kind]) for kind, counts in answers.items()],
        ),
        *_about_the_file(verdict),
    ]


def _times(kind: str, counts: Mapping[str, Any], limit: float) -> list[str]:
    """How many answers came late or early, and what response times they had."""
    times = ("-" if counts[name] is None else format_seconds(counts[name], limit) for name in TIMES)
    return [kind, *(f"{counts[name]:,}" for name in IN_TIME), *times, str(limit)]


def _about_the_file(verdict: Verdict) -> list[str]:
    lines = verdict["lines"]
    odd = {note: lines[note] for note in ("blank", "unknown_type", "malformed", "extra_fields") if lines[note]}
    notes = [f"{format_count(count, 'line')}: {note.replace('_', ' ')}" for note, count in odd.items()]
    notes += [f"  line {number}: {line!r}" for number, line in lines["examples"]]
    if verdict["accidents_end"] != "specification":
        notes.append("accidents end a minute earlier than the specification says")
    if not lines["total"]:
        notes.append("the file is empty")
    elif not any(counts["received"] - counts["extra"] for counts in verdict["answers"].values()):
        notes.append("no answer belongs to this data set: is it the output of another one?")
    return ["", *notes] if notes else []


def minute_line(minute: MinuteVerdict) -> str:
    """`minute 7: 431 answers, all right and in time`, or what is not."""
    faults = ", ".join(f"{kind} {fault} {number:,}" for (kind, fault), number in minute.faults.items())
    return f"minute {minute.minute}: {minute.expected:,} answers, {faults or 'all right and in time'}"
