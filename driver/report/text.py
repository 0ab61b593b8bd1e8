"""The report of a run, as text: the verdict and the answers first, then what they are made of, then one sentence."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from driver.report.diagnosis import headline, look_first
from driver.report.service import service_text
from driver.run.config import ENGINE_OPTIONS, FOREIGN, RunConfig
from driver.run.journal import step_name
from driver.run.limits import describe_limits, limits_in_force
from driver.run.machine import machine_words, warning
from driver.run.record import RunRecord, run_record
from driver.run.record_types import EngineFacts, RunJson
from driver.run.summary import PERCENTILES
from driver.run.verdict import FAULTS
from polling_baseline import spec
from polling_baseline.database.connection import describe_server
from polling_baseline.database.settings import DURABILITIES
from polling_baseline.wording import WIDTH, fold_parts, format_command, format_count, format_seconds, format_table

FILES = ("run.json", "output.csv", "cycles.csv", "verdict.json", "network.svg", "report.html")
TIMES = (*PERCENTILES, "max")
# Options of engine aurora whose values do not say what they are.
NAMED_OPTIONS = ("headroom", "qos")


def text(record: RunJson, folder: Path) -> str:
    """What a terminal shows of the run in a folder, whose `run.json` says `record`."""
    return run_text(run_record(record, folder))


def run_text(run: RunRecord) -> str:
    """What a terminal shows of a run."""
    answers = _answers(run)
    saved = [name for name in FILES if (run.folder / name).exists()]
    lines = [
        *_heading(run, max(map(len, answers))),
        "",
        *answers,
        "",
        *_causes(run.json),
        *_outages(run.json),
        "",
        conclusion(run),
        *others_text(run),
    ]
    if run.json["state"] in ("running", "interrupted", "broken") and run.config.profile.keeps_commits:
        lines.append(f"go on  {format_command('run', '--resume', run.folder)}")
    return "\n".join([*lines, "  ".join([f"saved  {run.folder} ", *saved])])


def conclusion(run: RunRecord) -> str:
    """One or two sentences on how it went."""
    if sentences := look_first(run):
        return "\n".join(sentences)
    if not any(answer["received"] for answer in run.json["answers"].values()):
        return "There was nothing to answer."
    if run.verdict:
        return headline(run)[1]
    return "Every answer came in time; whether they are right is for lrb validate to say."


def others_text(run: RunRecord) -> list[str]:
    """A sentence if something else was running when the run began."""
    sentence = warning(run.json["environment"]["machine"])
    return textwrap.wrap(f"{sentence[0].upper()}{sentence[1:]}.", WIDTH) if sentence else []


def _length(xways: float, distinct: int | None) -> str:
    """L, and what it was made of: copies of the expressways on disk, or some of them."""
    if distinct is None:
        return f"L = {xways:g}"
    return f"L = {xways:g} (copies of {distinct} distinct)" if xways > distinct else f"L = {xways:g} of {distinct}"


def _heading(run: RunRecord, width: int) -> list[str]:
    """What ran, with the verdict at the right end of the table that follows; then where and how."""
    dataset, config, environment = run.json["dataset"], run.config, run.json["environment"]
    seed = dataset["seed"]
    *lines, last = fold_parts(
        "",
        [
            "Linear Road",
            " ".join([config.label, *_own_options(config)]),
            _length(dataset["xways"], dataset.get("distinct")),
            f"{config.to_minute - config.from_minute + 1} min",
            *([] if seed is None else [f"seed {seed}"]),
        ],
    )
    verdict = verdict_line(run)
    together = len(last) + 3 + len(verdict) <= WIDTH
    lines += [f"{last}   {verdict.rjust(width - len(last) - 3)}"] if together else [last, verdict.rjust(width)]
    lines += fold_parts(
        "",
        [
            f"run {run.folder.name}",
            environment["started"].replace("T", " ").replace("+00:00", " UTC"),
            f"commit {environment['commit'] or 'unknown'}{'+' if environment.get('dirty') else ''}",
            *filter(None, [server_text(run)]),
        ],
    )
    lines += fold_parts(
        "",
        [
            format_count(environment["machine"]["cores"], "core"),
            format_count(config.workers, "worker"),
            f"period {config.period_s:g} s",
            f"{config.clock} clock",
            *departures(config),
        ],
    )
    return lines + textwrap.wrap(limits_text(run) or "", WIDTH)


def limits_text(run: RunRecord) -> str | None:
    """By which limits answers are late, if not by the specification's; whether the run was made under others."""
    own = limits_in_force(run.config.limits)
    if run.limits == own:
        return describe_limits(own)
    stated = describe_limits(run.limits) or "limits of the specification"
    made_under = describe_limits(own) or "the limits of the specification"
    return f"{stated}; the run was made under {made_under}, and its late answers are counted anew"


def departures(config: RunConfig) -> list[str]:
    """Where a run is not as runs usually are."""
    return [
        *([] if config.catch_up else ["catch-up off"]),
        *([f"{', '.join(kind.replace('_', ' ') for kind in config.ignore)} ignored"] if config.ignore else []),
        *([f"{config.slower:g} times slower"] if config.slower != 1 else []),
    ]


def _own_options(config: RunConfig) -> list[str]:
    """The options that only this engine has; those of a design are in the label, as is the name of a foreign system."""
    if config.engine in FOREIGN:
        usual = ENGINE_OPTIONS[config.engine]
        return [f"{name} {value}" for name, value in config.engine_options.items() if usual[name] not in (None, value)]
    return [
        f"{name} {Path(value).name}" if name in NAMED_OPTIONS else value
        for name, value in config.engine_options.items()
        if name not in ENGINE_OPTIONS["polling"]
    ]


def verdict_line(run: RunRecord) -> str:
    """PASS, or FAIL and the kinds of faults; the run's state where it was not judged."""
    word, faults = headline(run)[0], run.faults()
    return word if not faults or word == "PASS" else f"FAIL: {', '.join(name for name in faults if faults[name])}"


def answer_columns(run: RunRecord) -> tuple[str, ...]:
    """The counts to show of each kind of answer: more of them once the run was judged."""
    return ("received", "late") if run.verdict is None else ("expected", *FAULTS)


def answer_counts(run: RunRecord, kind: str) -> dict[str, Any]:
    """What is known of a kind of answer: the verdict's counts if there is one, and response times."""
    measured = run.json["answers"][kind]
    judged: Mapping[str, Any] = run.verdict["answers"][kind] if run.verdict else {}
    return {**measured, **{name: value for name, value in judged.items() if value is not None}}


def _answers(run: RunRecord) -> list[str]:
    """What came of each kind of answer, if that was judged; and when it came."""
    columns = answer_columns(run)
    content, in_time = columns[: columns.index("late")], columns[columns.index("late") :]
    if run.verdict is None:
        content, in_time = (), columns
    judged = format_table(("answer", *content), [[kind, *_counts(run, kind, content)] for kind in spec.ANSWERS])
    times = [[kind, *_counts(run, kind, in_time), *response_times(run, kind)] for kind in spec.ANSWERS]
    timed = format_table(("answer", *in_time, *TIMES, "limit (s)"), times)
    return [*judged, "", *timed] if content else timed


def _counts(run: RunRecord, kind: str, names: Sequence[str]) -> list[str]:
    return [f"{answer_counts(run, kind)[name]:,}" for name in names]


def response_times(run: RunRecord, kind: str) -> list[str]:
    """The percentiles, the longest, and the limit."""
    answer = answer_counts(run, kind)
    limit = answer["limit_s"]
    return [*(format_seconds(answer[name], limit) if name in answer else "-" for name in TIMES), str(limit)]


def _causes(record: RunJson) -> list[str]:
    feed, cycles = record["feed"], record["cycles"]
    if not cycles["count"]:
        return ["no cycle was completed"]
    steps = sorted(cycles["steps_mean_ms"].items(), key=lambda step: -step[1])
    share = feed["driver_s"] / feed["busy_s"] if feed["busy_s"] else 0
    return [
        *fold_parts(
            "feed    ",
            [
                format_count(feed["rows"], "tuple"),
                f"peak {feed['peak_rows_per_s']:,}/s",
                f"lag p99 {feed['lag_p99_ms']:.0f} ms, max {feed['lag_max_ms']:.0f} ms",
                f"the driver's own share {share:.0%}",
            ],
        ),
        *fold_parts(
            "cycles  ",
            [
                f"{cycles['count']:,}",
                f"mean {cycles['mean_ms']:.1f} ms, p99 {cycles['p99_ms']:.1f} ms, max {cycles['max_ms']:.1f} ms",
                f"{cycles['of_several_seconds']:,} of several seconds",
                f"backlog {cycles['largest_backlog_s']} s at most",
            ],
        ),
        *_database(record),
        *_memory(record),
        *fold_parts("machine ", machine_words(record["environment"]["machine"])),
        *service_text(record),
        *(fold_parts("steps   ", (f"{step_name(name)} {ms:.1f} ms" for name, ms in steps)) if steps else []),
    ]


def _database(record: RunJson) -> list[str]:
    """What the run cost the database beside time; other engines have no such costs, and a broken run cannot ask."""
    engine = record["environment"]["engine"]
    if "wal_bytes" not in engine or record["state"] == "broken":
        return []
    wal, tuples = engine["wal_bytes"], record["feed"]["rows"]
    return fold_parts(
        "log     ",
        [
            f"durability {engine['durability']}{_not_in_force(engine)}",
            f"WAL {wal / 1e6:,.1f} MB, {wal / max(1, tuples):,.0f} bytes per tuple",
            f"dead rows {engine['dead_rows']:,}",
            f"autovacuums {engine['autovacuums']:,}",
        ],
    )


def server_text(run: RunRecord) -> str | None:
    """PostgreSQL's version, and the place of a server that was given; None for an engine without one."""
    engine = run.json["environment"]["engine"]
    if "PostgreSQL" not in engine:
        return None
    server = engine.get("server")
    where = f" on {describe_server(server)}" if server and not server["embedded"] else ""
    return f"PostgreSQL {engine['PostgreSQL'].split()[0]}{where}"


def _not_in_force(engine: EngineFacts) -> str:
    """What the server did otherwise than that durability means."""
    wanted = DURABILITIES[engine["durability"]].crash_settings
    other = [name for name, value in wanted.items() if engine["settings"].get(name) != value]
    return f" (but {', '.join(other)} {engine['settings'].get(other[0])})" if other else ""


def _memory(record: RunJson) -> list[str]:
    """What an engine that keeps its state in memory took of it; a broken run cannot ask."""
    engine = record["environment"]["engine"]
    if "peak_bytes" not in engine or record["state"] == "broken":
        return []
    return [f"memory  {engine['peak_bytes'] / 1e9:.2f} GB at most, driver and engine together"]


def _outages(record: RunJson) -> list[str]:
    """What came between, for a run that was resumed."""
    return [
        f"outage  {outage['seconds']:,.1f} s from {outage['from']:,.1f} s on: {outage['reason']}; "
        f"{format_count(outage['late_answers'], 'answer')} late because of it"
        for outage in record.get("outages", ())
    ]
