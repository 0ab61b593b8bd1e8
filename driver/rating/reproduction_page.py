"""The reproduction as a page: table 8 as curves over the scale factor, and how far behind each variant falls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from driver.rating.paper import LIMIT_S
from driver.rating.record import ReproductionRecord, VariantRecord
from driver.report.html.axis import Axis
from driver.report.html.chart import Curve, curves, series
from driver.report.html.file import write_page
from driver.report.html.frame import Markup, page, paragraph, section, table

PAGE = "reproduction.html"
SHORTEST_S = 0.1


def write_reproduction_page(
    record: ReproductionRecord,
    folder: Path,
    rows: dict[str, list[tuple[str, ...]]],
    volumes: Sequence[tuple[str, ...]],
    conditions: Sequence[str],
    sentences: Sequence[str],
) -> None:
    """`rows` has the table of each system, `sentences` what the tables say; the text has the same of all of these."""
    parts = []
    for system, table_rows in rows.items():
        variants = [variant for variant in record["variants"] if variant["system"] == system]
        head, *body = table_rows
        parts.append(
            section(
                system,
                responses_chart(record, system, variants),
                *_backlog(record, system, variants),
                table(head, body, range(1, len(head)), "longest response time of a toll notification, in seconds"),
            )
        )
    parts.append(section("What they say", *(paragraph(sentence) for sentence in sentences)))
    head, *body = volumes
    parts.append(section("Volumes", table(head, body, (1, 2))))
    commit = record["environment"]["commit"] or "unknown"
    lede = [*conditions, record["environment"]["started"].replace("T", " ")[:16] + " UTC", f"commit {commit}"]
    write_page(
        folder / PAGE, page("Linear Road: the paper, reproduced", " · ".join(lede), parts, "Made by lrb reproduce.")
    )


def responses_chart(record: ReproductionRecord, system: str, variants: Sequence[VariantRecord]) -> Markup:
    """Table 8: the longest response time by scale factor."""
    paper = record["systems"][system]["max_response_s"]
    times_of = {"paper": paper, **{variant["name"]: variant["slower"]["max_response_s"] for variant in variants}}
    colours = ["var(--ink)", *(series(number) for number in range(len(variants)))]
    looks = ["", *("dashed" if variant["slower"]["predicted"] else "" for variant in variants)]
    lines = [
        Curve(name, [float(xways) for xways in times], list(times.values()), colour=colour, look=look)
        for (name, times), colour, look in zip(times_of.items(), colours, looks, strict=True)
    ]
    longest = max(max(times.values()) for times in times_of.values())
    described = (
        f"{name}: " + ", ".join(f"{seconds:,.0f} s at L = {xways}" for xways, seconds in times.items())
        for name, times in times_of.items()
    )
    marks = tuple((float(xways), xways) for xways in paper)
    return curves(
        f"{system}: longest response time by expressways",
        ". ".join(described) + ".",
        Axis("expressways", min(marks)[0], max(marks)[0], marks=marks),
        Axis("seconds (log scale)", SHORTEST_S, max(longest * 1.5, 2 * LIMIT_S), log=True),
        lines,
        limit=(f"limit {LIMIT_S} s", LIMIT_S),
    )


def _backlog(record: ReproductionRecord, system: str, variants: Sequence[VariantRecord]) -> list[Markup]:
    """How long answers took in each minute at the scale factor that failed first in 2004."""
    fails_at = record["systems"][system]["fails_at"]
    lines = [
        Curve(
            variant["name"],
            [minute + 0.5 for minute in range(len(variant["slower"]["longest_by_minute_s"]))],
            variant["slower"]["longest_by_minute_s"],
            colour=series(number),
        )
        for number, variant in enumerate(variants)
    ]
    longest = max(max(line.y) for line in lines)
    if longest <= LIMIT_S:
        return []
    return [
        curves(
            f"{system}, slowed down: longest response time by minute at L = {fails_at:g}",
            ". ".join(f"{line.name}: {max(line.y):,.0f} s at most" for line in lines) + ".",
            Axis("time (minutes)", 0, record["minutes"][1]),
            Axis("seconds", 0, longest * 1.1),
            lines,
        )
    ]
