"""Runs as a page, one or several side by side: the verdict first, then the answers, then what they are made of."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from driver.report.compare import columns as compared
from driver.report.compare import common_departures, load_sentence, results, steps
from driver.report.diagnosis import headline, look_first
from driver.report.html.drawing import drawing
from driver.report.html.file import write_page
from driver.report.html.frame import Markup, banner, columns, facts, folded, link, page, paragraph, section, table
from driver.report.html.in_time import in_time_of_kinds, in_time_of_runs
from driver.report.html.percentiles import percentiles_of_kinds, percentiles_of_runs
from driver.report.html.repeated import repeated_section
from driver.report.html.run_charts import (
    ChartRun,
    backlog_chart,
    cycles_chart,
    response_chart,
    steps_chart,
    style_runs,
    words,
)
from driver.report.html.second_charts import answered_chart, are_short, cycle_chart
from driver.report.measures import measures
from driver.report.service import service_facts
from driver.report.side_by_side import Row
from driver.report.text import TIMES, answer_columns, answer_counts, limits_text, response_times, server_text
from driver.run.limits import limits_argument
from driver.run.machine import machine_words, warning
from driver.run.record import RunRecord, open_run
from polling_baseline import spec
from polling_baseline.refusal import Refusal
from polling_baseline.wording import format_count, format_seconds

PAGE = "report.html"
# What an engine may leave in a run's folder for the page.
NETWORK = "network.svg"


def write_report(folder: Path) -> Path:
    """Write the page of a run into its folder, and give its path."""
    write_page(folder / PAGE, run_page([open_run(folder)]))
    return folder / PAGE


def refresh_report(folder: Path) -> None:
    """Write the page if that is possible: what was measured or judged is not lost for a page that is not."""
    try:
        write_report(folder)
    except Refusal as refusal:
        print(f"lrb: no page: {refusal}", file=sys.stderr)


def run_page(runs: Sequence[RunRecord], home: Path | None = None, repeated: Sequence[Sequence[RunRecord]] = ()) -> str:
    """One document on all of them; one that is to lie in the folder `home` has links to their own pages.

    Where each was made several times, `repeated` has them all.
    """
    shown = style_runs(runs)
    first = runs[0]
    data = first.json["dataset"]
    title = f"Linear Road: {', '.join(dict.fromkeys(run.config.label for run in runs))}, L = {data['xways']:g}"
    since, until = first.minutes
    seed = "imported data" if data["seed"] is None else f"seed {data['seed']}"
    lede = [data["name"], f"minutes {since} to {until}", seed, f"{first.config.clock} clock", *common_departures(runs)]
    charts = [part for part in (_responses(shown), _causes(shown), _percentiles(shown), _in_time(shown)) if part]
    if len(runs) == 1:
        parts = [_verdicts(shown, home), _numbers(first), _answers(shown), *charts]
    else:
        # What a comparison shows is seen before it is read.
        parts = [_verdicts(shown, home), *charts, _comparison(runs, repeated), _answers(shown)]
    if spread := repeated_section(compared(runs, repeated)):
        parts.insert(1 if len(runs) == 1 else len(parts) - 1, spread)
    parts += [part for drawn_run in shown if (part := _network(drawn_run, len(runs) == 1))]
    parts.append(_settings(shown))
    if stated := limits_text(first):
        parts.insert(0, paragraph(f"{stated[0].upper()}{stated[1:]}."))
    return page(title, " · ".join(lede), parts, "Made by lrb report.")


def _verdicts(shown: Sequence[ChartRun], home: Path | None) -> Markup:
    """A banner per run, and below it what to look at first."""
    parts = []
    for drawn_run in shown:
        word, sentence = headline(drawn_run.run)
        mood = {"PASS": "pass", "FAIL": "fail"}.get(word, "open")
        name = "" if len(shown) == 1 else f"{drawn_run.label}: "
        parts.append(banner(f"{name}{word}", mood, sentence, *_links(drawn_run.run.folder / PAGE, home)))
        parts += [paragraph(text) for text in look_first(drawn_run.run)]
        if others := warning(drawn_run.run.json["environment"]["machine"]):
            parts.append(paragraph(f"{name}{others}." if name else f"{others[0].upper()}{others[1:]}."))
    return Markup("\n".join(parts))


def _links(page: Path, home: Path | None) -> list[Markup]:
    """A link from a page in `home` to another, if there is one."""
    if home is None or not page.exists():
        return []
    return [link(os.path.relpath(page.absolute(), home.absolute()), "its own page")]


def _numbers(run: RunRecord) -> Markup:
    feed, cycles, measured = run.json["feed"], run.json["cycles"], measures(run)
    pairs = [("Answers", f"{sum(answer['received'] for answer in run.json['answers'].values()):,}")]
    longest, limit = measured["toll_max_s"], run.limits["toll"]
    pairs.append(("Longest toll response", "-" if longest is None else f"{format_seconds(longest, limit)} s"))
    if cycles["count"]:
        pairs += [
            ("Tuples", f"{feed['rows']:,}"),
            ("Peak", f"{feed['peak_rows_per_s']:,} tuples/s"),
            ("Per busy second", f"{measured['tuples_per_s'] or 0:,.0f} tuples"),
            ("Mean of a cycle", _duration(cycles["mean_ms"])),
            ("Slowest cycle", _duration(cycles["max_ms"])),
            ("Largest backlog", f"{cycles['largest_backlog_s']:,} s"),
            ("Lag, p99", _duration(feed["lag_p99_ms"])),
            *service_facts(run),
        ]
    return facts(pairs)


def _duration(ms: float) -> str:
    return f"{ms:,.1f} ms" if ms < 1000 else f"{ms / 1000:,.1f} s"


def _comparison(runs: Sequence[RunRecord], repeated: Sequence[Sequence[RunRecord]]) -> Markup:
    comparison = compared(runs, repeated)
    head = ("", *(column.label for column in comparison))

    def lines(part: Sequence[Row]) -> Markup:
        return table(head, [(name, *cells) for name, cells in part], numbers=range(1, len(head)))

    cycle = folded(
        "What a cycle is made of: the mean milliseconds of its steps, by each engine's names", lines(steps(comparison))
    )
    sentences = [paragraph(sentence) for column in comparison if (sentence := load_sentence(column))]
    return section("Side by side", *sentences, lines([*_servers(runs), *results(comparison)]), cycle)


def _servers(runs: Sequence[RunRecord]) -> list[Row]:
    """Where the database was, if any of them has one."""
    servers = [server_text(run) for run in runs]
    return [("server", [server or "-" for server in servers])] if any(servers) else []


def _answers(shown: Sequence[ChartRun]) -> Markup:
    """A table per run: the counts of each kind of answer and its response times."""
    tables = []
    for drawn_run in shown:
        counts = answer_columns(drawn_run.run)
        body = []
        for kind in spec.ANSWERS:
            answer = answer_counts(drawn_run.run, kind)
            numbers = (f"{answer[name]:,}" for name in counts)
            body.append((words(kind), *numbers, *response_times(drawn_run.run, kind)))
        head = ("answer", *counts, *TIMES, "limit")
        caption = "response times in seconds" + ("" if len(shown) == 1 else f": {drawn_run.label}")
        tables.append(table(head, body, range(1, len(head)), caption))
    return section("Answers", *tables)


def _responses(shown: Sequence[ChartRun]) -> Markup | None:
    charts = [chart for kind in spec.ANSWERS if (chart := response_chart(kind, shown))]
    if charts and are_short(shown) and (by_second := answered_chart(shown)):
        charts.insert(0, by_second)
    return section("Response time", charts[0], columns(*charts[1:])) if charts else None


def _causes(shown: Sequence[ChartRun]) -> Markup | None:
    alone = len(shown) == 1
    whole = cycle_chart(shown) if are_short(shown) else None if alone else cycles_chart(shown)
    backlog = backlog_chart(shown)
    charts = [chart for chart in (backlog, whole) if chart]
    steps = [chart for drawn_run in shown if (chart := steps_chart(drawn_run, alone))]
    if not steps:
        return section("Backlog and cycles", paragraph("No cycle was completed."))
    note = [] if backlog else [paragraph("No input waited after a cycle.")]
    return section("Backlog and cycles", *note, *charts, *(steps if alone else [columns(*steps)]))


def _percentiles(shown: Sequence[ChartRun]) -> Markup | None:
    if len(shown) == 1:
        charts = [chart for chart in [percentiles_of_kinds(shown[0])] if chart]
    else:
        charts = [chart for kind in spec.ANSWERS if (chart := percentiles_of_runs(kind, shown))]
    return section("Percentiles", charts[0], columns(*charts[1:])) if charts else None


def _in_time(shown: Sequence[ChartRun]) -> Markup | None:
    chart = in_time_of_kinds(shown[0]) if len(shown) == 1 else in_time_of_runs("toll", shown)
    return section("Under other limits", chart) if chart else None


def _network(drawn_run: ChartRun, alone: bool) -> Markup | None:
    picture = drawing(drawn_run.run.folder / NETWORK)
    return section("Query network" + ("" if alone else f": {drawn_run.label}"), picture) if picture else None


def _settings(shown: Sequence[ChartRun]) -> Markup:
    """Options, versions and machine: a column per run; what is long is folded."""
    runs = [drawn_run.run for drawn_run in shown]
    flat = [dict(_flat(run)) for run in runs]
    names = list(dict.fromkeys(name for settings in flat for name in settings))
    head = ("", *(drawn_run.label for drawn_run in shown))
    short = table(head, [(name, *(settings.get(name, "-") for settings in flat)) for name in names])
    long = [
        folded(
            f"{name} of {drawn_run.label}" if len(shown) > 1 else name,
            table(("name", "value"), [(key, str(value)) for key, value in values.items()]),
        )
        for drawn_run in shown
        for name, values in _nested(drawn_run.run)
    ]
    return section("Settings, versions, machine", short, *long)


def _flat(run: RunRecord) -> Iterable[tuple[str, str]]:
    environment, config = run.json["environment"], run.config
    yield "run", str(run.folder)
    yield "state", run.json["state"]
    options = config.as_json()
    for name, value in options.items():
        if value is not None and not isinstance(value, dict):
            shown = ", ".join(value) or "nothing" if isinstance(value, list | tuple) else f"{value}"
            yield name.replace("_s", " (s)") if name == "period_s" else name.replace("_", " "), shown
    for name, value in config.engine_options.items():
        yield name, str(value)
    if config.limits:
        yield "limits", limits_argument(config.limits)
    if where := server_text(run):
        yield "server", where
    yield "started", environment.get("started", "-")
    yield "commit", f"{environment.get('commit') or 'unknown'}{' with changes' if environment.get('dirty') else ''}"
    machine = environment["machine"]
    yield "machine", ", ".join([format_count(machine["cores"], "core"), *machine_words(machine)])
    yield "Python", environment.get("python", "-")
    for name, value in environment.get("engine", {}).items():
        if not isinstance(value, dict) and name not in options:
            yield name, str(value)


def _nested(run: RunRecord) -> Iterable[tuple[str, dict[str, Any]]]:
    environment = run.json["environment"]
    yield "Packages", environment.get("packages", {})
    for name, value in environment.get("engine", {}).items():
        if isinstance(value, dict):
            yield f"Engine's {name}", value
