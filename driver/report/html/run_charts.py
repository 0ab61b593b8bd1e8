"""The charts of runs: one run, or several laid over one another, each engine in its own colour."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from driver.report.compare import labels
from driver.report.html.axis import Axis
from driver.report.html.chart import Curve, Note, curves, levels, series, stacked
from driver.report.html.frame import Markup
from driver.run.journal import REST
from driver.run.record import RunRecord
from driver.run.record_types import MinuteTimes
from polling_baseline.wording import format_count, format_seconds

# An engine keeps its colour on every page; one that is not named here gets one of the rest, by its name.
ENGINE_SERIES = {"polling": 0, "aurora": 1, "trigger": 2, "structured_streaming": 3, "duckdb": 4}
STEPS_SHOWN = 7
OTHERS = "other steps"
SHORTEST_S = 0.001
SIZES: tuple[Literal["p50", "p99", "max"], ...] = ("p50", "p99", "max")
# The period is drawn if it is at most so many times as high as what is shown.
NEAR = 2.5


@dataclass(frozen=True, slots=True)
class ChartRun:
    """A run as it is drawn on all charts of a page."""

    run: RunRecord
    label: str
    colour: str
    look: str


def style_runs(runs: Sequence[RunRecord]) -> list[ChartRun]:
    """Runs of one engine keep its hue, and differ in shade and dashes."""
    seen: Counter[str] = Counter()
    drawn_runs = []
    for run, label in zip(runs, labels(runs), strict=True):
        engine = run.config.engine
        colour = series(ENGINE_SERIES.get(engine, len(ENGINE_SERIES) + zlib.crc32(engine.encode()) % 4))
        number = seen[engine]
        # Pairs of a darker and a lighter one, dashed and solid in turn, each pair further from the engine's own colour.
        pair = (number + 1) // 2
        if pair:
            other = "var(--ink)" if number % 2 else "var(--paper)"
            colour = f"color-mix(in oklab, {colour} {max(75 - 20 * pair, 15)}%, {other})"
        drawn_runs.append(ChartRun(run, label, colour, "dashed" if pair % 2 else ""))
        seen[engine] += 1
    return drawn_runs


def words(kind: str) -> str:
    return kind.replace("_", " ")


def minute_axis(runs: Sequence[ChartRun]) -> Axis:
    first, last = runs[0].run.minutes
    return Axis("time (minutes)", first - 1, last)


def seconds_axis(shortest: float, longest: float) -> Axis:
    """A log axis of response times that both fit on."""
    low = 10.0 ** math.floor(math.log10(max(shortest, SHORTEST_S)) + 1e-9)
    return Axis("seconds (log scale)", low, max(longest * 1.5, low * 10), log=True)


def low_end(shortest_ms: float) -> float:
    """The round number of milliseconds below all."""
    return 10.0 ** math.floor(math.log10(max(shortest_ms, 0.01)))


def response_chart(kind: str, runs: Sequence[ChartRun]) -> Markup | None:
    """p50, p99 and longest response time of a kind of answer by minute; nothing if no such answer came."""
    rows_of_runs = [(drawn_run, rows) for drawn_run in runs if (rows := drawn_run.run.minutes_with(kind))]
    if not rows_of_runs:
        return None
    limit = runs[0].run.limits[kind]
    shortest = min(times["p50"] for _, rows in rows_of_runs for _, times in rows)
    longest = max(times["max"] for _, rows in rows_of_runs for _, times in rows)
    lines, alone = [], len(runs) == 1
    for drawn_run, rows in rows_of_runs:
        lines += _response_curves(drawn_run, rows, "p99" if alone else f"{drawn_run.label}, p99")
    shade = runs[0].colour if alone else "var(--faint)"
    keys = [replace(line, name=size, colour=shade) for size, line in zip(("max", "p50"), lines[1:3], strict=True)]
    return curves(
        f"Response time of {words(kind)} answers by minute",
        " ".join(_described(drawn_run, limit, rows) for drawn_run, rows in rows_of_runs) + f" The limit is {limit} s.",
        minute_axis(runs),
        seconds_axis(shortest, max(limit, longest)),
        lines,
        limit=(f"limit {limit} s", limit),
        notes=_response_notes(limit, rows_of_runs, alone),
        keys=keys,
    )


def _response_curves(drawn_run: ChartRun, rows: Sequence[tuple[int, MinuteTimes]], name: str) -> list[Curve]:
    first, last = drawn_run.run.minutes
    at = np.arange(first, last + 1)
    values = {size: np.full(len(at), np.nan) for size in SIZES}
    for minute, times in rows:
        for size in SIZES:
            values[size][minute - first] = times[size]
    x = at - 0.5
    return [
        Curve("", x, values["max"], filled=True, floor=values["p50"], colour=drawn_run.colour, look="faint bare"),
        Curve("", x, values["max"], colour=drawn_run.colour, look="thin"),
        Curve("", x, values["p50"], colour=drawn_run.colour, look="dotted"),
        Curve(name, x, values["p99"], colour=drawn_run.colour, look=drawn_run.look),
    ]


def _described(drawn_run: ChartRun, limit: float, rows: Sequence[tuple[int, MinuteTimes]]) -> str:
    """What the curves show, in words."""
    worst_minute, worst = max(rows, key=lambda row: row[1]["max"])
    late = sum(times["max"] > limit for _, times in rows)
    highest = format_seconds(max(times["p50"] for _, times in rows), limit)
    return (
        f"{drawn_run.label}: the longest is {format_seconds(worst['max'], limit)} s in minute {worst_minute}, the "
        f"highest p50 of a minute {highest} s; {late} of {format_count(len(rows), 'minute')} with late answers."
    )


def _response_notes(
    limit: float, rows_of_runs: Sequence[tuple[ChartRun, Sequence[tuple[int, MinuteTimes]]]], alone: bool
) -> list[Note]:
    texts: dict[int, list[str]] = {}
    for drawn_run, rows in rows_of_runs:
        for minute, times in rows:
            name = "" if alone else f"{drawn_run.label}: "
            sizes = ", ".join(f"{size} {format_seconds(times[size], limit)} s" for size in SIZES)
            texts.setdefault(minute, []).append(f"{name}{format_count(times['received'], 'answer')}, {sizes}")
    return [Note(minute - 1, minute, "\n".join([f"minute {minute}", *lines])) for minute, lines in texts.items()]


def backlog_chart(runs: Sequence[ChartRun]) -> Markup | None:
    """How many seconds of input waited, at most, in each minute; nothing if none ever did."""
    rows_of_runs = [(drawn_run, drawn_run.run.json["minutes"]) for drawn_run in runs if drawn_run.run.json["minutes"]]
    if not any(row["backlog_s"] for _, rows in rows_of_runs for row in rows):
        return None
    lines, sentences, most = [], [], 0
    for drawn_run, rows in rows_of_runs:
        values = [row["backlog_s"] for row in rows]
        x, y = levels([row["minute"] for row in rows], values)
        lines.append(Curve(drawn_run.label, x, y, filled=len(runs) == 1, colour=drawn_run.colour, look=drawn_run.look))
        most = max(most, *values)
        worst = rows[int(np.argmax(values))]["minute"]
        sentences.append(
            f"{drawn_run.label}: {max(values):,} s at most" + (f", in minute {worst}." if max(values) else ".")
        )
    return curves(
        "Input that waited after a cycle, the most in each minute",
        " ".join(sentences),
        minute_axis(runs),
        Axis("seconds of input", 0, max(1.0, most * 1.1)),
        lines,
    )


def steps_chart(drawn_run: ChartRun, alone: bool) -> Markup | None:
    """What a cycle of each minute spent its time on, step on step, against the period."""
    cycles = drawn_run.run.cycles
    if cycles is None:
        return None
    layers = _layers({name: cycles.mean_by_minute(ms) for name, ms in cycles.steps_ms.items()})
    minutes, mean, slowest = cycles.minutes, cycles.mean_by_minute(cycles.took_ms), cycles.slowest_by_minute()
    period_ms = drawn_run.run.config.period_s * 1000
    top = max(sum(ms for ms in layers.values()).max(), 0.1) * 1.1  # type: ignore[union-attr]
    shares = sorted(((ms.sum() / max(mean.sum(), 1e-9), name) for name, ms in layers.items()), reverse=True)
    parts = [
        Curve(name, *levels(minutes, ms), colour=f"var(--part-{n})") for n, (name, ms) in enumerate(layers.items())
    ]
    return curves(
        "Mean of a cycle by step and minute" + ("" if alone else f": {drawn_run.label}"),
        f"{drawn_run.label}: a cycle takes {mean.mean():,.1f} ms on average, {mean.max():,.1f} ms in the slowest "
        f"minute; the period is {period_ms:,.0f} ms. "
        + ", ".join(f"{name} {share:.0%}" for share, name in shares if share >= 0.005)
        + ".",
        minute_axis([drawn_run]),
        Axis("milliseconds per cycle", 0, max(top, period_ms * 1.1) if period_ms < NEAR * top else top),
        stacked(parts),
        limit=(f"period {period_ms:,.0f} ms", period_ms),
        notes=[
            Note(minute - 1, minute, f"minute {minute}\nmean {mean[n]:,.1f} ms, slowest cycle {slowest[n]:,.1f} ms")
            for n, minute in enumerate(minutes)
        ],
    )


def _layers(steps: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """In the engine's own order; the smallest together where they are many."""
    named = [name for name in steps if name != REST]
    largest = sorted(named, key=lambda name: -steps[name].sum())[: STEPS_SHOWN - (len(named) > STEPS_SHOWN)]
    layers = {name: steps[name] for name in named if name in largest}
    if rest := [steps[name] for name in named if name not in largest]:
        layers[OTHERS] = np.sum(rest, axis=0)
    return {**layers, REST: steps[REST]}


def cycles_chart(runs: Sequence[ChartRun]) -> Markup | None:
    """The mean of a cycle by minute, engines over one another."""
    cycles_of_runs = [(drawn_run, drawn_run.run.cycles) for drawn_run in runs]
    curves_of = [
        (drawn_run, cycles.minutes, cycles.mean_by_minute(cycles.took_ms))
        for drawn_run, cycles in cycles_of_runs
        if cycles
    ]
    if not curves_of:
        return None
    low = low_end(min(ms.min() for _, _, ms in curves_of))
    period_ms = max(drawn_run.run.config.period_s for drawn_run in runs) * 1000
    top = max(period_ms, *(ms.max() for _, _, ms in curves_of))
    return curves(
        "Mean of a cycle by minute",
        " ".join(
            f"{drawn_run.label}: {ms.mean():,.1f} ms, {ms.max():,.1f} ms at most." for drawn_run, _, ms in curves_of
        ),
        minute_axis(runs),
        Axis("milliseconds per cycle (log scale)", low, top * 1.5, log=True),
        [
            Curve(drawn_run.label, minutes - 0.5, ms, colour=drawn_run.colour, look=drawn_run.look)
            for drawn_run, minutes, ms in curves_of
        ],
        limit=(f"period {period_ms:,.0f} ms", period_ms),
    )
