"""Of a run that did not go well: where to look first, in a sentence or two, from what was measured."""

from __future__ import annotations

import numpy as np

from driver.dataset.expressways import describe_part
from driver.run.limits import limits_argument, limits_in_force
from driver.run.record import RunRecord
from driver.run.record_types import MinuteSummary
from driver.run.verdict import Verdict, expected_in
from polling_baseline import spec
from polling_baseline.wording import format_command, format_count, format_seconds

# A cycle so many times as long as its minute's mean is a pause, not load.
PAUSE = 5
# From this share on, the driver's own work is worth a word.
DRIVER_SHARE = 0.3


def headline(run: RunRecord) -> tuple[str, str]:
    """The verdict in a word or two, and a sentence that counts."""
    state, faults = run.json["state"], run.faults()
    if faults is None:
        word = state if state != "complete" else "late answers" if run.late else "in time"
        return word, f"The answers are not yet judged: {_validate(run)}"
    assert run.verdict is not None
    expected = expected_in(run.verdict)
    named = ", ".join(f"{count:,} {fault}" for fault, count in faults.items() if count)
    malformed = run.verdict["lines"]["malformed"]
    named = ", ".join(filter(None, [named, f"{format_count(malformed, 'line')} malformed" if malformed else ""]))
    if run.verdict["verdict"] == "PASS":
        every = f"All {expected:,} answers are" if expected > 1 else "The one answer is"
        sentence = f"{every} there, right and in time{_reservations(run.verdict)}."
        return "PASS", sentence if expected else "There was nothing to answer, and nothing was answered."
    return "FAIL", f"Of {format_count(expected, 'answer')} expected: {named}{_reservations(run.verdict)}."


def _validate(run: RunRecord, *options: object) -> str:
    others = [] if run.limits == limits_in_force(run.config.limits) else ["--limits", limits_argument(run.limits)]
    return format_command("validate", run.config.dataset, run.folder, *options, *others)


def _reservations(verdict: Verdict) -> str:
    part = describe_part(verdict["xways"])
    return (", read leniently" if verdict["lenient"] else "") + (f", on {part}" if part else "")


def look_first(run: RunRecord) -> list[str]:
    """What to look at first; nothing if all went well."""
    sentences = []
    if run.json["state"] != "complete":
        rows = run.json["minutes"]
        until = f" in minute {rows[-1]['minute']} of {run.minutes[0]} to {run.minutes[1]}" if rows else " at the start"
        sentences.append(f"The run is {run.json['state']}{until}: {run.json.get('reason', 'no reason is known')}.")
    sentences += _content(run)
    if first := first_late(run):
        sentences.append(_lateness(run, *first))
    return sentences


def first_late(run: RunRecord) -> tuple[int, str, float] | None:
    """The first minute with a late answer, that answer's kind, and the longest response time of its kind then."""
    late = [
        (minute, spec.ANSWERS.index(kind), times["max"])
        for kind in spec.ANSWERS
        for minute, times in run.minutes_with(kind)
        if times["max"] > run.limits[kind]
    ]
    if not late:
        return None
    minute, number, longest_s = min(late)
    return minute, spec.ANSWERS[number], longest_s


def _content(run: RunRecord) -> list[str]:
    """Answers that are not those expected, other than late ones."""
    if run.verdict is None:
        return []
    kinds = []
    for kind, counts in run.verdict["answers"].items():
        if named := [
            f"{counts[fault]:,} {fault}" for fault in ("missing", "extra", "duplicate", "wrong") if counts[fault]
        ]:
            kinds.append(f"{kind}: {', '.join(named)}")
    if not kinds:
        return []
    return [f"{'; '.join(kinds)}. For the evidence: {_validate(run, '--explain', 3)}"]


def _lateness(run: RunRecord, minute: int, kind: str, longest_s: float) -> str:
    row = next(row for row in run.json["minutes"] if row["minute"] == minute)
    limit = run.limits[kind]
    words = [
        f"{format_count(run.late, 'answer')} came late, the first in minute {minute} ({kind}: up to "
        f"{format_seconds(longest_s, limit, 1)} s, the limit is {limit} s), {_backlog(row)}."
    ]
    if run.cycles is not None and minute in run.cycles.minute:
        words.append(_cause(run, minute))
    feed = run.json["feed"]
    if feed.get("busy_s") and feed["driver_s"] / feed["busy_s"] > DRIVER_SHARE:
        words.append(f"The driver's own share of the time is {feed['driver_s'] / feed['busy_s']:.0%}.")
    return " ".join(words)


def _backlog(row: MinuteSummary) -> str:
    return f"with a backlog of {row['backlog_s']:,} s" if row["backlog_s"] else "without a backlog"


def _cause(run: RunRecord, minute: int) -> str:
    """Which step the cycles of a minute spent their time in, against the period."""
    assert run.cycles is not None
    in_minute = run.cycles.minute == minute
    took = run.cycles.took_ms[in_minute]
    slowest = int(np.argmax(took))
    pause = took[slowest] > PAUSE * np.mean(took) and len(took) > PAUSE
    steps = {
        name: (ms[in_minute][slowest] if pause else ms[in_minute].mean()) for name, ms in run.cycles.steps_ms.items()
    }
    name = max(steps, key=lambda step: steps[step])
    whole = took[slowest] if pause else took.mean()
    share = f"{steps[name] / whole:.0%} of it in {name}" if whole else name
    period_ms = run.config.period_s * 1000
    if pause:
        return f"One cycle then took {whole:,.0f} ms where the mean is {took.mean():,.0f} ms: a pause, {share}."
    return f"A cycle then took {whole:,.0f} ms on average, with a period of {period_ms:,.0f} ms: {share}."
