"""The faults of an output as a page: over time, by kind, by segment and minute, and the first ones explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from driver.report.dataset import DIRECTIONS
from driver.report.html.axis import Axis
from driver.report.html.chart import Curve, curves, levels, stacked
from driver.report.html.colour_map import colour_map
from driver.report.html.frame import Markup, banner, folded, page, section, table
from driver.run.verdict import FAULTS, Verdict, faults_in
from polling_baseline import spec
from polling_baseline.wording import format_count

Counts = npt.NDArray[np.int64]


def faults_page(verdict: Verdict, by_minute: Counts, by_segment: Counts, explained: Sequence[Sequence[str]]) -> str:
    """One document; faults by [kind, fault, minute] and [direction, segment, minute], and texts in lines."""
    first, last = verdict["minutes"]
    lede = [verdict["dataset"]["name"], f"minutes {first} to {last}"]
    if verdict["lenient"]:
        lede.append("read leniently")
    total = sum(faults_in(verdict).values())
    passed = verdict["verdict"] == "PASS"
    head = banner(verdict["verdict"], "pass" if passed else "fail", format_count(total, "fault"))
    parts = [head, section("Answers", _answers(verdict))]
    if total:
        minutes = slice(first - 1, last)
        parts.append(section("Faults over time", *_over_time(by_minute[:, :, minutes], first)))
        parts += _maps(by_segment[:, :, minutes], first)
    if explained:
        parts.append(section("The first of each kind", *map(_text, explained)))
    return page("Linear Road: the judge's view", " · ".join(lede), parts, "Made by lrb validate --page.")


def _answers(verdict: Verdict) -> Markup:
    names = ("expected", "received", *FAULTS)
    answers: Mapping[str, Mapping[str, Any]] = verdict["answers"]
    rows = [(kind, *(f"{counts[name]:,}" for name in names)) for kind, counts in answers.items()]
    return table(("answer", *names), rows, numbers=range(1, len(names) + 1))


def _over_time(by_minute: Counts, first: int) -> list[Markup]:
    """A chart for each kind of answer that has faults."""
    charts = []
    ends = np.arange(first, first + by_minute.shape[2])
    for kind, counts in zip(spec.ANSWERS, by_minute, strict=True):
        if not counts.any():
            continue
        layers = [
            Curve(fault, *levels(ends, row), colour=f"var(--part-{number})")
            for number, (fault, row) in enumerate(zip(FAULTS, counts, strict=True))
            if row.any()
        ]
        by_minute_of_kind = counts.sum(axis=0)
        worst, minutes = int(by_minute_of_kind.argmax()), int((by_minute_of_kind > 0).sum())
        charts.append(
            curves(
                f"{kind}: faults by the minute of their input",
                f"{format_count(int(counts.sum()), 'fault')} in {format_count(minutes, 'minute')}; "
                f"most in minute {first + worst}: {by_minute_of_kind[worst]:,}.",
                Axis("time (minutes)", first - 1, first - 1 + by_minute.shape[2]),
                Axis("faults", 0, max(float(by_minute_of_kind.max()), 1.0) * 1.05),
                stacked(layers),
            )
        )
    return charts


def _maps(by_segment: Counts, first: int) -> list[Markup]:
    top = float(by_segment.max())
    if not top:
        return []
    figures = []
    for direction, counts in enumerate(by_segment):
        if not counts.any():
            continue
        cells = np.where(counts > 0, counts, np.nan).T
        seg, minute = np.unravel_index(int(counts.argmax()), counts.shape)
        figures.append(
            colour_map(
                f"Toll notifications and alerts, {DIRECTIONS[direction]}",
                f"{format_count(int(counts.sum()), 'fault')}; most in segment {seg}, minute {first + minute}: "
                f"{counts.max():,}. All expressways together; answers that nobody asked for have no segment.",
                Axis("time (minutes)", first - 1, first - 1 + counts.shape[1]),
                Axis("segment (1 mile)", 0, spec.SEGMENTS),
                Axis("faults of a segment in a minute", 0, top),
                cells,
                empty="no fault",
            )
        )
    return [section("Faults by segment and minute", *figures)]


def _text(lines: Sequence[str]) -> Markup:
    title, *rest = lines
    return folded(title, Markup(f"<pre>{escape(chr(10).join(rest))}</pre>"))
