"""What is in a data set, for the terminal and for other programs; `driver.report.html.dataset` has it as a page."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict

import numpy as np

from driver.dataset.dataset_stats import Accident, Survey
from driver.dataset.folder import Dataset
from polling_baseline import spec
from polling_baseline.wording import format_count

# What is counted: its noun, and what follows it.
KINDS = {
    "reports": ("position report", ""),
    "balance": ("account balance request", ""),
    "expenditure": ("daily expenditure request", ""),
    "travel_time": ("travel time request", ""),
    "vehicles": ("vehicle", ""),
    "toll_history": ("row", " of toll history"),
    "segment_history": ("row", " of segment history"),
    "rejects": ("rejected line", ""),
}
DIRECTIONS = ("east", "west")
CHART_COLUMNS, CHART_ROWS = 72, 8
LISTED = 20
BLOCKS, PLAIN_BLOCKS = " ▁▂▃▄▅▆▇█", " ........#"


def clock_time(second: int) -> str:
    return f"{second // 3600}:{second // 60 % 60:02d}:{second % 60:02d}"


def size_on_disk(dataset: Dataset) -> int:
    return sum(path.stat().st_size for path in dataset.path.rglob("*") if path.is_file())


def megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def rejects_by_reason(dataset: Dataset) -> dict[str, int]:
    """Empty where nothing was rejected, as in a data set that was generated."""
    counts = dataset.options.get("rejects_by_reason")
    return dict(counts) if isinstance(counts, dict) else {}


def headline(dataset: Dataset) -> list[str]:
    seed = "imported" if dataset.seed is None else f"seed {dataset.seed}"
    length = f"{dataset.seconds // spec.MINUTE_S} min"
    return [f"L = {dataset.xways:g}", length, seed, megabytes(size_on_disk(dataset))]


def peak(survey: Survey) -> str:
    second = survey.peak_second
    return f"{survey.tuples_per_second[second]:,} in second {second:,} ({clock_time(second)})"


def as_json(dataset: Dataset, survey: Survey) -> dict[str, object]:
    rate = survey.tuples_per_second
    return {
        "dataset": str(dataset.path),
        "xways": dataset.xways,
        "seconds": dataset.seconds,
        "seed": dataset.seed,
        "bytes": size_on_disk(dataset),
        "counts": dataset.counts,
        "rejects_by_reason": rejects_by_reason(dataset),
        "peak": {"second": survey.peak_second, "tuples": int(rate.max(initial=0))},
        "accidents": [asdict(accident) for accident in survey.accidents],
        "tuples_per_second": rate.tolist(),
    }


def as_text(dataset: Dataset, survey: Survey) -> Iterator[str]:
    yield "   ".join([dataset.name, *headline(dataset)])
    yield ""
    for kind, (noun, rest) in KINDS.items():
        yield format_count(dataset.counts.get(kind, 0), noun, 14) + rest
    for reason, count in rejects_by_reason(dataset).items():
        yield f"{'':>14} {count:>10,} {reason}"
    yield ""
    yield f"tuples per second, peak {peak(survey)}"
    yield from bars(survey.tuples_per_second)
    yield ""
    yield f"accidents: {len(survey.accidents):,}"
    if survey.accidents:
        yield f"  {'xway':>4} {'dir':<4} {'lane':>4} {'seg':>3} {'position':>10}   {'from':>7}   {'to':>7}"
    for accident in survey.accidents[:LISTED]:
        yield f"  {accident.xway:>4} {DIRECTIONS[accident.dir]:<4} {accident.lane:>4} {accident.seg:>3} " + (
            f"{accident.position_ft:>7,} ft   {clock_time(accident.from_second)}   {clock_time(accident.to_second)}"
        )
    if len(survey.accidents) > LISTED:
        yield f"  and {len(survey.accidents) - LISTED:,} more: lrb show --json"


def bars(rate: np.ndarray) -> Iterator[str]:
    """A chart of block characters, each column the mean of its share of the time; with both axes."""
    parts = np.array_split(rate, min(CHART_COLUMNS, max(len(rate), 1)))
    means = np.array([part.mean() if len(part) else 0.0 for part in parts])
    top = max(float(means.max()), 1e-9)
    eighths = np.round(means / top * CHART_ROWS * 8).astype(int)
    blocks = BLOCKS if _can_print(BLOCKS) else PLAIN_BLOCKS
    corner, dash = ("└", "─") if blocks is BLOCKS else ("+", "-")
    for row in reversed(range(CHART_ROWS)):
        label = f"{top * (row + 1) / CHART_ROWS:,.0f}" if row % 2 else ""
        yield f"{label:>8} " + "".join(blocks[level] for level in np.clip(eighths - 8 * row, 0, 8)).rstrip()
    minutes = len(rate) / spec.MINUTE_S
    ends = f"{minutes:.0f} min"
    middle = f"{minutes / 2:g}".center(len(means) - 2 * len(ends))
    yield f"{'0':>8} {corner}{dash * (len(means) - 1)}"
    yield f"{'':>9}{'0':<{len(ends)}}{middle}{ends}"


def _can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def describe_accident(accident: Accident) -> str:
    return (
        f"lane {accident.lane}, {accident.position_ft:,} ft (segment {accident.seg}), "
        f"{clock_time(accident.from_second)} to {clock_time(accident.to_second)}"
    )
