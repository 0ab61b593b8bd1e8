"""The charts of short runs, second by second: by the minute they would be a few points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from driver.report.html.axis import Axis
from driver.report.html.chart import Curve, curves
from driver.report.html.frame import Markup
from driver.report.html.run_charts import ChartRun, low_end, minute_axis, seconds_axis
from driver.run.journal import CycleColumns
from polling_baseline import spec
from polling_baseline.wording import format_seconds

MOST_MINUTES = 3
KIND = "toll"


def are_short(runs: Sequence[ChartRun]) -> bool:
    first, last = runs[0].run.minutes
    return last - first < MOST_MINUTES


def answered_chart(runs: Sequence[ChartRun]) -> Markup | None:
    """How long each second of input waited for its answers, against the limit of toll notifications."""
    limit = runs[0].run.limits[KIND]
    waits = [(drawn_run, cycles, cycles.answered_s) for drawn_run, cycles in _with_cycles(runs)]
    if not waits:
        return None
    longest = max(waited.max() for _, _, waited in waits)
    return curves(
        "Response time, second by second",
        " ".join(
            f"{drawn_run.label}: {format_seconds(waited.max(), limit)} s at most." for drawn_run, _, waited in waits
        )
        + f" The limit of toll answers is {limit} s.",
        minute_axis(runs),
        seconds_axis(min(waited.min() for _, _, waited in waits), max(limit, longest)),
        [_curve(drawn_run, cycles, waited) for drawn_run, cycles, waited in waits],
        limit=(f"limit {limit} s", limit),
    )


def cycle_chart(runs: Sequence[ChartRun]) -> Markup | None:
    """What each cycle took, against the period."""
    took = [(drawn_run, cycles, cycles.took_ms) for drawn_run, cycles in _with_cycles(runs)]
    if not took:
        return None
    period_ms = max(drawn_run.run.config.period_s for drawn_run in runs) * 1000
    top = max(period_ms, *(ms.max() for _, _, ms in took))
    return curves(
        "What each cycle took",
        " ".join(f"{drawn_run.label}: {ms.mean():,.1f} ms, {ms.max():,.1f} ms at most." for drawn_run, _, ms in took),
        minute_axis(runs),
        Axis("milliseconds (log scale)", low_end(min(ms.min() for _, _, ms in took)), top * 1.5, log=True),
        [_curve(drawn_run, cycles, ms) for drawn_run, cycles, ms in took],
        limit=(f"period {period_ms:,.0f} ms", period_ms),
    )


def _with_cycles(runs: Sequence[ChartRun]) -> list[tuple[ChartRun, CycleColumns]]:
    return [(drawn_run, cycles) for drawn_run in runs if (cycles := drawn_run.run.cycles)]


def _curve(drawn_run: ChartRun, cycles: CycleColumns, values: np.ndarray) -> Curve:
    at = cycles.first_second / spec.MINUTE_S
    return Curve(drawn_run.label, at, values, colour=drawn_run.colour, look=drawn_run.look)
