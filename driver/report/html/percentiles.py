"""Response times by percentile: what share of the answers took no longer than so much."""

from __future__ import annotations

import math
from collections.abc import Sequence

from driver.report.html.axis import Axis
from driver.report.html.chart import Curve, curves
from driver.report.html.frame import Markup
from driver.report.html.run_charts import ChartRun, seconds_axis, words
from driver.run.record_types import AnswerSummary
from polling_baseline.wording import format_seconds

NINES = ((0.0, "0"), (0.5, "50"), (0.9, "90"), (0.99, "99"), (0.999, "99.9"), (0.9999, "99.99"), (0.99999, "99.999"))


def percentiles_of_kinds(drawn_run: ChartRun) -> Markup | None:
    """All kinds of answers of one run."""
    answers = {kind: drawn_run.run.json["answers"][kind] for kind in drawn_run.run.kinds}
    answers = {kind: answer for kind, answer in answers.items() if answer.get("histogram")}
    lines = [
        Curve(words(kind), *_points(answer), colour=f"var(--part-{number})")
        for number, (kind, answer) in enumerate(answers.items())
    ]
    limit = min((answer["limit_s"] for answer in answers.values()), default=0)
    named = [words(kind) for kind, answer in answers.items() if answer["limit_s"] == limit]
    return _chart(
        "Response time by percentile", lines, list(answers.values()), (f"limit {limit} s ({', '.join(named)})", limit)
    )


def percentiles_of_runs(kind: str, runs: Sequence[ChartRun]) -> Markup | None:
    """One kind of answer of several runs."""
    answers = [(drawn_run, drawn_run.run.json["answers"][kind]) for drawn_run in runs]
    answers = [(drawn_run, answer) for drawn_run, answer in answers if answer.get("histogram")]
    lines = [
        Curve(drawn_run.label, *_points(answer), colour=drawn_run.colour, look=drawn_run.look)
        for drawn_run, answer in answers
    ]
    limit = runs[0].run.limits[kind]
    title = f"Response time by percentile: {words(kind)}"
    return _chart(title, lines, [answer for _, answer in answers], (f"limit {limit} s", limit))


def _place(share: float) -> float:
    """Each nine more is as far again."""
    return -math.log10(1 - share)


def _points(answer: AnswerSummary) -> tuple[list[float], list[float]]:
    """Where the histogram's classes end; the last answer stands half an answer before the end."""
    total, reached = answer["received"], 0.0
    x, y = [0.0], [min(answer["histogram"][0][0], answer["max"])]
    for upper, count in answer["histogram"]:
        reached += count
        x.append(_place(min(reached, total - 0.5) / total))
        y.append(min(upper, answer["max"]))
    return x, y


def _chart(
    title: str, lines: Sequence[Curve], answers: Sequence[AnswerSummary], limit: tuple[str, float]
) -> Markup | None:
    if not lines:
        return None
    end = max(_place(1 - 0.5 / answer["received"]) for answer in answers)
    sentences = [
        f"{line.name}: "
        + ", ".join(
            f"{size} {format_seconds(answer[size], answer['limit_s'])} s" for size in ("p50", "p99", "p99.9", "max")
        )
        + "."
        for line, answer in zip(lines, answers, strict=True)
    ]
    marks = tuple((_place(share), text) for share, text in NINES if _place(share) <= end)
    return curves(
        title,
        " ".join(sentences),
        Axis("percent of the answers that took no longer", 0, end, marks=marks),
        seconds_axis(min(line.y[0] for line in lines), max(limit[1], *(answer["max"] for answer in answers))),
        lines,
        limit=limit,
    )
