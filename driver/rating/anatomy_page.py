"""The anatomy as a page: what a tuple costs on each rung, by the load."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from driver.rating.record import AnatomyRecord, RungRecord
from driver.report.html.axis import Axis
from driver.report.html.chart import Curve, curves, series
from driver.report.html.file import write_page
from driver.report.html.frame import Markup, page, paragraph, section, table

PAGE = "anatomy.html"
POINTS = 40


def write_anatomy_page(
    record: AnatomyRecord, folder: Path, rows: Sequence[tuple[str, ...]], sentences: Sequence[str]
) -> None:
    """`rows` is the table with its heading, `sentences` what it says."""
    head, *body = rows
    first, last = record["minutes"]
    commit = record["environment"]["commit"] or "unknown"
    lede = [f"minutes {first} to {last}", f"seed {record['seed']}", "one worker", "virtual clock"]
    lede += [record["environment"]["started"].replace("T", " ")[:16] + " UTC", f"commit {commit}"]
    parts = [
        section("The ladder", cost_chart(record), table(head, body, range(2, len(head)))),
        section("What it says", *(paragraph(sentence) for sentence in sentences)),
    ]
    write_page(
        folder / PAGE,
        page("Linear Road: the price of a database", " · ".join(lede), parts, "Made by lrb compare --anatomy."),
    )


def cost_chart(record: AnatomyRecord) -> Markup:
    """Microseconds per tuple over the tuples in a second: the fixed part of a cycle is shared by all of them.

    A point is what was measured, one for each reading; a line is what follows from fixed part and part per tuple.
    """
    rungs = record["rungs"]
    loads = [load["tuples"] for rung in rungs for load in rung["loads"].values()]
    tuples = np.geomspace(max(min(loads) / 10, 1), max(loads), POINTS)
    costs = [rung["fixed_ms"] * 1000 / tuples + max(rung["tuple_us"], 1e-3) for rung in rungs]
    lines = [Curve(rung["name"], tuples, cost) for rung, cost in zip(rungs, costs, strict=True)]
    points = [_readings(rung, series(number)) for number, rung in enumerate(rungs)]
    drawn = np.concatenate([curve.y for curve in (*lines, *points)])
    described = (
        f"{rung['name']}: "
        + ", ".join(f"{load['tuple_us']:.3g} us at L = {xways}" for xways, load in rung["loads"].items())
        for rung in rungs
    )
    return curves(
        "What a tuple costs, by the tuples that come in a second; a point is a reading",
        ". ".join(described) + ".",
        Axis("tuples per second (log scale)", float(tuples[0]), float(tuples[-1]), log=True),
        Axis(
            "microseconds per tuple (log scale)",
            float(np.nanmin(drawn)),
            float(np.nanmax(drawn)),
            log=True,
        ),
        [*lines, *points],
    )


def _readings(rung: RungRecord, colour: str) -> Curve:
    """The readings of a rung, with gaps between them, so that no line is drawn."""
    measured = [
        (load["tuples"], reading_ms * 1000 / load["tuples"])
        for load in rung["loads"].values()
        for reading_ms in load["readings_ms"]
    ]
    apart = np.array([place for point in measured for place in (point, (point[0], np.nan))])
    return Curve("", apart[:, 0], apart[:, 1], colour=colour, look="dotted")
