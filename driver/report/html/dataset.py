"""A data set as a page: its numbers, its tuples per second, and how fast the traffic was where."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from driver.dataset.dataset_stats import Survey
from driver.dataset.folder import Dataset
from driver.report.dataset import (
    DIRECTIONS,
    KINDS,
    clock_time,
    describe_accident,
    headline,
    megabytes,
    peak,
    rejects_by_reason,
    size_on_disk,
)
from driver.report.html.axis import Axis
from driver.report.html.chart import Curve, curves
from driver.report.html.colour_map import Mark, colour_map
from driver.report.html.frame import Markup, facts, page, paragraph, section, table
from polling_baseline import spec
from polling_baseline.wording import format_count

POINTS = 180
ACCIDENTS_LISTED = 200


def dataset_page(dataset: Dataset, survey: Survey, xways: Sequence[int]) -> str:
    """One document; speed maps for the expressways named."""
    parts = [
        facts(
            [
                *(
                    (f"{noun}s{rest}".capitalize(), f"{dataset.counts.get(kind, 0):,}")
                    for kind, (noun, rest) in KINDS.items()
                ),
                ("Accidents", f"{len(survey.accidents):,}"),
                ("Peak, tuples per second", f"{survey.tuples_per_second.max():,}"),
                ("Length", f"{dataset.seconds // 60} min"),
                ("Size on disk", megabytes(size_on_disk(dataset))),
            ]
        ),
        section("Tuples per second", _rate(dataset, survey)),
        _maps(dataset, survey, xways),
        _accidents(survey),
    ]
    if reasons := rejects_by_reason(dataset):
        rows = [(f"{count:,}", reason) for reason, count in reasons.items()]
        parts.append(section("Rejected lines", table(("lines", "reason"), rows, numbers=[0])))
    return page(f"Linear Road: {dataset.name}", " · ".join(headline(dataset)), parts, "Made by lrb show.")


def _rate(dataset: Dataset, survey: Survey) -> Markup:
    rate = survey.tuples_per_second
    step = max(1, -(-len(rate) // POINTS))
    parts = np.split(rate, range(step, len(rate), step))
    at = [(number * step + len(part) / 2) / spec.MINUTE_S for number, part in enumerate(parts)]
    span = "minute" if step == spec.MINUTE_S else f"{step} s"
    return curves(
        "Reports and requests of all expressways",
        f"From {parts[0].mean():,.0f} tuples per second at the start to {parts[-1].mean():,.0f} at the end; "
        f"peak {peak(survey)}.",
        Axis("time (minutes)", 0, len(rate) / spec.MINUTE_S),
        Axis("tuples per second", 0, max(float(rate.max()), 1.0) * 1.05),
        [
            Curve(f"mean of each {span}", at, [part.mean() for part in parts], filled=True),
            Curve(f"highest second of each {span}", at, [part.max() for part in parts]),
        ],
    )


def _maps(dataset: Dataset, survey: Survey, xways: Sequence[int]) -> Markup:
    chosen = {xway: survey.speed_mph[xway] for xway in xways}
    top = max((float(np.nanmax(speeds, initial=0)) for speeds in chosen.values()), default=0)
    scale = Axis("mph, mean of a minute in a segment", 0, max(10, np.ceil(top / 10) * 10))
    figures = [
        _map(dataset, survey, xway, direction, speeds[direction], scale)
        for xway, speeds in chosen.items()
        for direction in (spec.EAST, spec.WEST)
        if not np.isnan(speeds[direction]).all()
    ]
    left_out = len(survey.speed_mph) - len(chosen)
    note = (
        [paragraph(f"Not shown: {format_count(left_out, 'more expressway')}; choose with --xways.")] if left_out else []
    )
    hint = paragraph("Dark is slow. The jam behind an accident grows against the direction of travel.")
    return section("Speed by minute and segment", hint, *figures, *note)


def _map(dataset: Dataset, survey: Survey, xway: int, direction: int, speeds: np.ndarray, scale: Axis) -> Markup:
    accidents = [accident for accident in survey.accidents if (accident.xway, accident.dir) == (xway, direction)]
    marks = [
        Mark(
            accident.from_second / spec.MINUTE_S,
            (accident.to_second + 1) / spec.MINUTE_S,
            accident.position_ft / spec.SEGMENT_FT,
            f"accident, {describe_accident(accident)}",
        )
        for accident in accidents
    ]
    way = "towards higher segments" if direction == spec.EAST else "towards lower segments"
    return colour_map(
        f"Expressway {xway}, {DIRECTIONS[direction]} ({way})",
        f"Mean of all cells {np.nanmean(speeds):.0f} mph, lowest {np.nanmin(speeds):.0f} mph; "
        f"{format_count(len(accidents), 'accident')}.",
        Axis("time (minutes)", 0, speeds.shape[0]),
        Axis("segment (1 mile)", 0, spec.SEGMENTS),
        scale,
        speeds,
        marks,
        "accident",
    )


def _accidents(survey: Survey) -> Markup:
    if not survey.accidents:
        return section("Accidents", paragraph("None."))
    rows = [
        (
            str(accident.xway),
            DIRECTIONS[accident.dir],
            str(accident.lane),
            str(accident.seg),
            f"{accident.position_ft:,}",
            clock_time(accident.from_second),
            clock_time(accident.to_second),
        )
        for accident in survey.accidents[:ACCIDENTS_LISTED]
    ]
    head = ("xway", "dir", "lane", "seg", "position (ft)", "from", "to")
    more = len(survey.accidents) - len(rows)
    note = [paragraph(f"And {more:,} more: lrb show --json.")] if more else []
    return section("Accidents", table(head, rows, numbers=[0, 2, 3, 4, 5, 6]), *note)
