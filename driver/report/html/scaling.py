"""How response time and cost grow with L, as a page."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from driver.report.html.axis import Axis
from driver.report.html.chart import Curve, curves
from driver.report.html.frame import Markup, folded, link, page, paragraph, section, table
from driver.report.html.run_charts import ChartRun, style_runs
from driver.report.measures import KIND, Spread, spreads
from driver.report.scaling import CSV_NAME, SHOWN, Series, cell
from driver.run.machine import machine_words, warning_of_runs
from driver.run.record import RunRecord
from polling_baseline.wording import format_count

OWN_PAGE = "report.html"
SHORTEST_S = 0.001


def scaling_page(systems: Sequence[Series], home: Path) -> str:
    """Two charts over L and their tables; `home` is the folder that the page lies in."""
    shown = style_runs([next(iter(system.typical.values())) for system in systems])
    first = shown[0].run
    since, until = first.minutes
    lede = [first.json["dataset"]["name"], f"minutes {since} to {until}", f"{first.config.clock} clock"]
    limit = first.limits[KIND]
    cost = _chart("us_per_tuple", "What a tuple costs, by L", "microseconds (log scale)", systems, shown, None)
    response = _chart("toll_p99_s", "Response time of tolls, p99, by L", "seconds (log scale)", systems, shown, limit)
    runs = [run for system in systems for of_load in system.loads.values() for run in of_load]
    parts = [section("How cost grows as work grows", *_about(systems, runs), cost, response)]
    if sentence := warning_of_runs([run.json["environment"]["machine"] for run in runs]):
        parts.insert(0, paragraph(sentence))
    parts += [_table(name, title, systems) for name, title in SHOWN.items()]
    parts.append(_runs(systems, home))
    return page("Linear Road: cost and response time by L", " · ".join(lede), parts, "Made by lrb compare.")


def _chart(
    name: str, title: str, axis: str, systems: Sequence[Series], shown: Sequence[ChartRun], limit: float | None
) -> Markup:
    """A line through the medians; a band where there is a range."""
    loads = sorted({xways for system in systems for xways in system.loads})
    spreads_by_system = [
        {xways: spread for xways, runs in system.loads.items() if (spread := spreads(runs)[name])} for system in systems
    ]
    values = [
        value
        for of_system in spreads_by_system
        for spread in of_system.values()
        for value in spread.values
        if value > 0
    ]
    x = Axis("L (log scale)", loads[0], loads[-1], log=True, marks=tuple((xways, f"{xways:g}") for xways in loads))
    # At least a decade, so that there are numbers beside it.
    low = 10.0 ** math.floor(math.log10(min(values, default=SHORTEST_S)))
    y = Axis(axis, low, max(low * 10, *(value * 1.2 for value in values)), log=True)
    lines = []
    for drawn_run, of_system in zip(shown, spreads_by_system, strict=True):
        at, medians, lows, highs = list(of_system), *_columns(of_system, low)
        if lows != highs:
            lines.append(Curve("", at, highs, True, lows, drawn_run.colour, "faint bare"))
        lines.append(Curve(drawn_run.label, at, medians, colour=drawn_run.colour, look=drawn_run.look))
    sentences = (
        f"{drawn_run.label}: " + ", ".join(f"{spread.median:.4g} at L = {xways:g}" for xways, spread in own.items())
        for drawn_run, own in zip(shown, spreads_by_system, strict=True)
    )
    return curves(title, ". ".join(sentences) + ".", x, y, lines, (f"limit {limit:g} s", limit) if limit else None)


def _columns(spreads_of: dict[float, Spread], low: float) -> tuple[list[float], list[float], list[float]]:
    """Medians and both ends of the ranges; a log axis has no 0."""
    of_loads = spreads_of.values()
    return (
        [max(spread.median, low) for spread in of_loads],
        [max(spread.low, low) for spread in of_loads],
        [max(spread.high, low) for spread in of_loads],
    )


def _about(systems: Sequence[Series], runs: Sequence[RunRecord]) -> list[Markup]:
    """What lines and bands are, on what machine, and what the judge said."""
    repeat = max(len(of_load) for system in systems for of_load in system.loads.values())
    verdicts = Counter(run.verdict["verdict"] if run.verdict else "not judged" for run in runs)
    sentences = [f"Lines are medians of {repeat} runs, bands their range."] if repeat > 1 else []
    sentences.append(
        f"Of {format_count(len(runs), 'run')}: " + ", ".join(f"{n:,} {word}" for word, n in verdicts.items()) + "."
    )
    machine = ", ".join(machine_words(runs[0].json["environment"]["machine"]))
    csv = paragraph("All runs as CSV: ")[:-4] + link(CSV_NAME, CSV_NAME) + "</p>"
    return [paragraph(" ".join(sentences)), paragraph(f"{machine}."), Markup(csv)]


def _table(name: str, title: str, systems: Sequence[Series]) -> Markup:
    loads = sorted({xways for system in systems for xways in system.loads})
    head = ("L", *(system.label for system in systems))
    rows = [(f"{xways:g}", *(cell(system, xways, name) for system in systems)) for xways in loads]
    stars = any("*" in text for row in rows for text in row)
    notes = [paragraph("* a run of it was late, wrong or broken")] if stars else []
    return section(title[0].upper() + title[1:], table(head, rows, range(len(head))), *notes)


def _runs(systems: Sequence[Series], home: Path) -> Markup:
    """Links to the pages of all runs."""
    lists = []
    for system in systems:
        for xways, runs in system.loads.items():
            pages = [os.path.relpath((run.folder / OWN_PAGE).absolute(), home.absolute()) for run in runs]
            links = " ".join(link(path, str(number)) for number, path in enumerate(pages, 1))
            lists.append(Markup(f"{paragraph(f'{system.label}, L = {xways:g}')[:-4]}: {links}</p>"))
    return section("Runs", folded("The page of each run", *lists))
