"""Runs side by side: the same data, the same minutes, the same clock, the same judge."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from driver.report.diagnosis import headline
from driver.report.measures import KIND, TIMES, Spread, spread_record, spreads
from driver.report.service import service_rows
from driver.report.side_by_side import Row, side_by_side
from driver.report.text import answer_counts, departures, limits_text
from driver.run.config import ENGINE_OPTIONS, NAMES_A_SYSTEM, RunConfig
from driver.run.journal import step_name
from driver.run.machine import warning_of_runs
from driver.run.record import RunRecord
from driver.run.verdict import FAULTS
from polling_baseline.database.connection import describe_server
from polling_baseline.refusal import Refusal
from polling_baseline.wording import WIDTH, fold_parts, format_count


@dataclass(frozen=True, slots=True)
class Column:
    """One run of a comparison, or several of one kind; medians and ratios are None where nothing was measured."""

    label: str
    # The one that stands for all of `runs`.
    run: RunRecord
    runs: tuple[RunRecord, ...]
    spreads: dict[str, Spread | None]
    # Times what the first run has.
    ratio: dict[str, float | None]

    @property
    def measured(self) -> dict[str, float | None]:
        return {name: spread.median if spread else None for name, spread in self.spreads.items()}


def columns(runs: Sequence[RunRecord], repeated: Sequence[Sequence[RunRecord]] = ()) -> list[Column]:
    """The runs as columns, the first being what the others are measured by; `repeated` has all runs of each kind."""
    kinds = [tuple(of_kind) for of_kind in repeated or [[run] for run in runs]]
    measured = [spreads(of_kind) for of_kind in kinds]
    first = measured[0]
    return [
        Column(label, run, of_kind, own, {name: _ratio(own[name], first[name]) for name in own})
        for label, run, of_kind, own in zip(labels(runs), runs, kinds, measured, strict=True)
    ]


def _ratio(own: Spread | None, first: Spread | None) -> float | None:
    """Of the medians; None also where a time is too short for the clock's three decimals."""
    return own.median / first.median if own and first and own.median and first.median else None


def check_comparable(runs: Sequence[RunRecord]) -> None:
    """Refuse runs of which one had less to do than another, or another clock."""
    first = runs[0]
    for run in runs[1:]:
        for what, own, others in (
            ("data", run.json["dataset"]["identity"], first.json["dataset"]["identity"]),
            ("expressways", run.json["dataset"]["xways"], first.json["dataset"]["xways"]),
            ("minutes", run.minutes, first.minutes),
            ("kinds of request", list(run.config.ignore), list(first.config.ignore)),
            ("clocks", run.config.clock, first.config.clock),
            ("limits", run.limits, first.limits),
        ):
            if own != others:
                remedy = "give --limits" if what == "limits" else "make them alike with lrb run"
                raise Refusal(
                    f"{first.folder} and {run.folder} are runs of different {what}, so they cannot be compared; "
                    + remedy
                )


def labels(runs: Sequence[RunRecord]) -> list[str]:
    """The engine and its design, and options in which its runs differ; the folder where only that tells them apart."""
    named = []
    for run in runs:
        alike = [_options(other.config) for other in runs if other.config.engine == run.config.engine]
        keys = dict.fromkeys(key for options in alike for key in options)
        differing = [key for key in keys if len({options.get(key) for options in alike}) > 1]
        own = _options(run.config)
        named.append(", ".join([run.config.label, *(own.get(key, f"default {key}") for key in differing)]))
    seen = Counter(named)
    return [
        label if seen[label] == 1 else f"{label}, {run.folder.name}" for label, run in zip(named, runs, strict=True)
    ]


def _options(config: RunConfig) -> dict[str, str]:
    """What two runs of an engine may differ in, in words."""
    return {
        "workers": format_count(config.workers, "worker"),
        "durability": f"durability {config.durability}",
        "period_s": f"period {config.period_s:g} s",
        "catch_up": f"catch-up {'on' if config.catch_up else 'off'}",
        "slower": f"{config.slower:g} times slower" if config.slower != 1 else "as fast as it is",
        # A design is in the label already, and so is the name of a foreign system.
        **{
            key: f"{key} {value}"
            for key, value in config.engine_options.items()
            if key not in (*ENGINE_OPTIONS["polling"], *NAMES_A_SYSTEM)
        },
    }


def rows(table: Sequence[Column]) -> list[Row]:
    """What is compared, line by line; then what a cycle of each is made of."""
    return [*results(table), *steps(table)]


def results(table: Sequence[Column]) -> list[Row]:
    """Verdict, faults, response times, throughput, and how they relate to the first."""
    rows: list[Row] = [("verdict", [_verdict(column) for column in table])]
    judged = [column.run.faults() for column in table]
    late = [sum(answer["late"] for answer in column.run.json["answers"].values()) for column in table]
    expected = [_expected(column.run) for column in table]
    rows.append(("answers expected", ["-" if number is None else f"{number:,}" for number in expected]))
    for fault in FAULTS:
        cells = ["-" if faults is None else f"{faults[fault]:,}" for faults in judged]
        if fault == "late":
            cells = [f"{late[number]:,}" if cell == "-" else cell for number, cell in enumerate(cells)]
        rows.append((fault, cells))
    rows += [(f"{KIND} response {name} (s)", _responses(table, f"{KIND}_{name}_s")) for name in TIMES]
    rows.append(("tuples per busy second", _numbers(table, "tuples_per_s", ",.0f")))
    rows.append(("microseconds per tuple", _numbers(table, "us_per_tuple", ",.2f")))
    rows += service_rows([column.run for column in table])
    if any(column.run.config.profile.logged_tables for column in table):
        rows.append(("bytes of log per tuple", _numbers(table, "wal_bytes_per_tuple", ",.0f")))
    if len(table) > 1:
        rows += relations(table)
    return rows + servers(table)


def _verdict(column: Column) -> str:
    """That of the run that stands for all; how many of them have it, if not all."""
    word = headline(column.run)[0]
    alike = sum(headline(run)[0] == word for run in column.runs)
    return word if alike == len(column.runs) else f"{word} ({alike} of {len(column.runs)})"


def _expected(run: RunRecord) -> int | None:
    return sum(counts["expected"] for counts in run.verdict["answers"].values()) if run.verdict else None


def _numbers(table: Sequence[Column], name: str, form: str) -> list[str]:
    return ["-" if (spread := column.spreads[name]) is None else spread.words(form) for column in table]


def _responses(table: Sequence[Column], name: str) -> list[str]:
    values = [(column.spreads[name], column.run.limits[KIND]) for column in table]
    return ["-" if spread is None else spread.seconds(limit) for spread, limit in values]


def relations(table: Sequence[Column]) -> list[Row]:
    first = "the first" if "," in table[0].label else table[0].label
    named = {"throughput": "tuples_per_s"} | {f"{KIND} response {name}": f"{KIND}_{name}_s" for name in TIMES}
    return [
        (
            f"{what}, times {first}",
            [_times(column.ratio[name]) for column in table],
        )
        for what, name in named.items()
    ]


def steps(table: Sequence[Column]) -> list[Row]:
    """Milliseconds of a mean cycle, and of its steps by their names; what is left over is the reading of answers."""
    means = [{"mean_ms": column.run.json["cycles"].get("mean_ms"), **_steps_of(column)} for column in table]
    names = dict.fromkeys(name for mean in means for name in mean)
    return [
        (
            "cycle, mean (ms)" if name == "mean_ms" else f"  {step_name(name)}",
            ["-" if (ms := mean.get(name)) is None else f"{ms:,.2f}" for mean in means],
        )
        for name in names
    ]


def servers(table: Sequence[Column]) -> list[Row]:
    """In what the runs on a database differ beside their options: server, version, and each setting in force."""
    values = [_server_of(column.run) for column in table]
    names = dict.fromkeys(name for own in values for name in own)
    # An engine without a server differs from no one.
    differing = [name for name in names if len({own.get(name) for own in values if own}) > 1]
    return [(name, [own.get(name, "-") for own in values]) for name in differing]


def _server_of(run: RunRecord) -> dict[str, str]:
    engine = run.json["environment"]["engine"]
    server = engine.get("server")
    values = {"server": describe_server(server)} if server else {}
    if "PostgreSQL" in engine:
        values |= {"PostgreSQL": engine["PostgreSQL"], "tables": engine.get("tables", "-")}
    return values | {f"setting {name}": value for name, value in engine.get("settings", {}).items()}


def _steps_of(column: Column) -> dict[str, float]:
    steps_ms: dict[str, float] = column.run.json["cycles"].get("steps_mean_ms", {})
    return steps_ms


def _times(ratio: float | None) -> str:
    """A factor as people say it: 12.5, or 1/12.5."""
    if ratio is None:
        return "-"
    shown = ratio if ratio >= 0.995 else 1 / ratio
    number = f"{shown:,.0f}" if shown >= 99.5 else f"{shown:.3g}"
    return number if shown == ratio else f"1/{number}"


# Who works for less of the time is idle.
IDLE_SHARE = 0.1


def load_sentence(column: Column) -> str | None:
    """Who is idle, who holds, who falls behind, and by how much; nothing where nothing was measured."""
    run = column.run
    first, last = run.json.get("covered", [None, None])
    busy_s = run.json["feed"].get("busy_s")
    if busy_s is None or first is None or last is None:
        return None
    share = busy_s / (last - first + 1)
    took = f"a second of input takes it {share:.3f} s"
    if run.late:
        stopped = f", and it was stopped in second {last:,}" if run.json["state"] == "late" else ""
        return f"{column.label} falls behind: {took}; answers are late{stopped}."
    return f"{column.label} {'is idle' if share < IDLE_SHARE else 'holds'}: {took}."


def text(table: Sequence[Column]) -> list[str]:
    """The comparison for a terminal."""
    run = table[0].run
    dataset, (first, last) = run.json["dataset"], run.minutes
    heading = [dataset["name"], f"L = {dataset['xways']:g}", f"minutes {first} to {last}"]
    heading += [f"{run.config.clock} clock", *common_departures([column.run for column in table])]
    if (repeat := max(len(column.runs) for column in table)) > 1:
        heading.append(f"median of {repeat} runs, and their range")
    lines = [*fold_parts("", heading), *textwrap.wrap(limits_text(run) or "", WIDTH), ""]
    lines += side_by_side([column.label for column in table], rows(table))
    sentences = [sentence for column in table if (sentence := load_sentence(column))]
    broken = [column for column in table if column.run.json["state"] not in ("complete", "late")]
    notes = [f"{column.label} is {column.run.json['state']}: {column.run.json.get('reason')}" for column in broken]
    below = [*sentences, *notes, *others_text([run for column in table for run in column.runs])]
    return [*lines, *(["", *below] if below else [])]


def others_text(runs: Sequence[RunRecord]) -> list[str]:
    """A sentence if something else was running when runs began."""
    return textwrap.wrap(warning_of_runs([run.json["environment"]["machine"] for run in runs]) or "", WIDTH)


def common_departures(runs: Sequence[RunRecord]) -> list[str]:
    """Where all of them are not as runs usually are; what is different between them is in their labels."""
    others = [departures(run.config) for run in runs[1:]]
    return [words for words in departures(runs[0].config) if all(words in other for other in others)]


def as_json(table: Sequence[Column]) -> dict[str, Any]:
    run = table[0].run
    return {
        "dataset": run.json["dataset"],
        "minutes": list(run.minutes),
        "clock": run.config.clock,
        "servers_differ_in": dict(servers(table)),
        "runs": [
            {
                "label": column.label,
                "run": str(column.run.folder),
                "config": column.run.json["config"],
                "state": column.run.json["state"],
                "reason": column.run.json.get("reason"),
                "verdict": column.run.verdict and column.run.verdict["verdict"],
                "faults": column.run.faults(),
                "answers": {
                    kind: {key: value for key, value in answer_counts(column.run, kind).items() if key != "histogram"}
                    for kind in column.run.json["answers"]
                },
                "measured": column.measured,
                "repeated": {
                    "runs": [str(run.folder) for run in column.runs],
                    "verdicts": [run.verdict and run.verdict["verdict"] for run in column.runs],
                    "measures": {name: spread_record(spread) for name, spread in column.spreads.items() if spread},
                },
                "ratio": column.ratio,
                "steps_mean_ms": _steps_of(column),
            }
            for column in table
        ],
    }
