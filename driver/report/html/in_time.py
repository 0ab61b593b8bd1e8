"""The share of the answers that come in time, as a function of the limit: from the response times of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from driver.report.html.axis import Axis
from driver.report.html.chart import Curve, curves
from driver.report.html.frame import Markup
from driver.report.html.run_charts import SHORTEST_S, ChartRun, words
from driver.run.record_types import AnswerSummary
from driver.run.summary import HISTOGRAM_S
from polling_baseline.wording import format_seconds

WHOLE = 100.0


def in_time_of_kinds(drawn_run: ChartRun) -> Markup | None:
    """All kinds of answers of one run; nothing if no answer came."""
    answers = {kind: drawn_run.run.json["answers"][kind] for kind in drawn_run.run.kinds}
    answers = {kind: answer for kind, answer in answers.items() if answer.get("histogram")}
    colours = [f"var(--part-{number})" for number in range(len(answers))]
    return _chart("Answers in time by limit", list(map(words, answers)), list(answers.values()), colours)


def in_time_of_runs(kind: str, runs: Sequence[ChartRun]) -> Markup | None:
    """One kind of answer of several runs; nothing if no such answer came."""
    answers = [(drawn_run, drawn_run.run.json["answers"][kind]) for drawn_run in runs]
    answers = [(drawn_run, answer) for drawn_run, answer in answers if answer.get("histogram")]
    return _chart(
        f"Answers in time by limit: {words(kind)}",
        [drawn_run.label for drawn_run, _ in answers],
        [answer for _, answer in answers],
        [drawn_run.colour for drawn_run, _ in answers],
        [drawn_run.look for drawn_run, _ in answers],
    )


def _chart(
    title: str,
    names: Sequence[str],
    answers: Sequence[AnswerSummary],
    colours: Sequence[str],
    looks: Sequence[str] = (),
) -> Markup | None:
    if not answers:
        return None
    longest = max(answer["max"] for answer in answers)
    axis = Axis("limit in seconds (log scale)", SHORTEST_S, max(longest, 10 * SHORTEST_S), log=True)
    lines = [
        Curve(name, *_points(answer, axis), colour=colour, look=look)
        for name, answer, colour, look in zip(names, answers, colours, looks or [""] * len(names), strict=True)
    ]
    marks = [
        Curve(text, [limit, limit], [0, WHOLE], colour="var(--limit)", look="dashed thin")
        for limit, text in _limits(names, answers)
        if limit < axis.high
    ]
    described = [f"{name}: {_described(answer)}." for name, answer in zip(names, answers, strict=True)]
    return curves(title, " ".join(described), axis, Axis("percent of the answers in time", 0, WHOLE), [*lines, *marks])


def _limits(names: Sequence[str], answers: Sequence[AnswerSummary]) -> list[tuple[float, str]]:
    """Each limit in force, and its text; with the names that it is for, if there are others."""
    by_limit: dict[float, list[str]] = {}
    for name, answer in zip(names, answers, strict=True):
        by_limit.setdefault(answer["limit_s"], []).append(name)
    alone = len(by_limit) == 1
    return [
        (limit, f"limit {limit} s" + ("" if alone else f" ({', '.join(named)})"))
        for limit, named in sorted(by_limit.items())
    ]


def _points(answer: AnswerSummary, axis: Axis) -> tuple[list[float], list[float]]:
    """Exact at both ends of each class of the histogram; flat where no answer took so long."""
    x, y, reached = [axis.low], [0.0], 0.0
    for upper, count in answer["histogram"]:
        place = int(np.searchsorted(HISTOGRAM_S, upper))
        x += [float(HISTOGRAM_S[place - 1]) if place else axis.low, min(upper, answer["max"])]
        y += [y[-1], WHOLE * (reached := reached + count) / answer["received"]]
    return [*x, axis.high], [*y, WHOLE]


def _described(answer: AnswerSummary) -> str:
    """Rounded down: less than all is not 100 %."""
    share = math.floor(100 * WHOLE * (answer["received"] - answer["late"]) / answer["received"]) / 100
    limit = answer["limit_s"]
    return f"{share:g} % within the limit of {limit} s, all within {format_seconds(answer['max'], limit)} s"
