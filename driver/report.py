"""The report of a run, as text: answers first, then what they are made of, then one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from driver.result import PERCENTILES
from polling_baseline import spec


def text(facts: dict[str, Any], folder: Path) -> str:
    """What a terminal shows of `run.json`."""
    lines = [*_heading(facts, folder), "", *_answers(facts["answers"]), "", *_causes(facts), *_outages(facts), ""]
    lines.append(conclusion(facts))
    if facts["state"] != "complete" and facts["config"]["durability"] == "on":
        lines.append(f"go on  lrb run --resume {folder}")
    return "\n".join([*lines, f"saved  {folder}   run.json  output.csv  cycles.csv"])


def conclusion(facts: dict[str, Any]) -> str:
    """One sentence on how it went."""
    late = {kind: answer["late"] for kind, answer in facts["answers"].items() if answer["late"]}
    first = _first_late_minute(facts) if late else None
    ending = "" if facts["state"] == "complete" else f"The run is {facts['state']}: {facts['reason']}.  "
    if first is not None:
        return f"{ending}{sum(late.values()):,} answers came late, the first in minute {first}."
    if not any(answer["received"] for answer in facts["answers"].values()):
        return f"{ending}There was nothing to answer."
    return f"{ending}Every answer came in time; whether they are right is for lrb validate to say."


def _heading(facts: dict[str, Any], folder: Path) -> list[str]:
    config, environment = facts["config"], facts["environment"]
    minutes = config["to_minute"] - config["from_minute"] + 1
    seed = "" if facts["dataset"]["seed"] is None else f"   seed {facts['dataset']['seed']}"
    late = any(answer["late"] for answer in facts["answers"].values())
    verdict = facts["state"] if facts["state"] != "complete" else "late answers" if late else "in time"
    versions = [f"{name} {value}" for name, value in environment["engine"].items() if name == "PostgreSQL"]
    engine = " ".join([config["engine"], *config.get("engine_options", {}).values()])
    return [
        f"Linear Road   {engine}   L = {facts['dataset']['xways']:g}   {minutes} min{seed}   {verdict}",
        "   ".join(
            [
                f"run {folder.name}",
                environment["started"].replace("T", " ").replace("+00:00", " UTC"),
                f"commit {environment['commit'] or 'unknown'}{'+' if environment.get('dirty') else ''}",
                *versions,
                f"{environment['machine']['cores']} cores",
                f"period {config['period_s']:g} s",
                f"{config['workers']} workers",
                f"{config['clock']} clock",
            ]
        ),
    ]


def _answers(answers: dict[str, Any]) -> list[str]:
    head = f"{'answer':<12}{'received':>12}{'late':>9}" + "".join(f"{name:>9}" for name in (*PERCENTILES, "max"))
    lines = [head + "   limit (s)"]
    for kind in spec.ANSWERS:
        answer = answers[kind]
        times = "".join(f"{answer[name]:>9.3f}" if name in answer else f"{'-':>9}" for name in (*PERCENTILES, "max"))
        lines.append(f"{kind:<12}{answer['received']:>12,}{answer['late']:>9,}{times}{answer['limit_s']:>12}")
    return lines


def _causes(facts: dict[str, Any]) -> list[str]:
    feed, cycles = facts["feed"], facts["cycles"]
    if not cycles["count"]:
        return ["no cycle was completed"]
    steps = sorted(cycles["steps_mean_ms"].items(), key=lambda step: -step[1])
    share = feed["driver_s"] / feed["busy_s"] if feed["busy_s"] else 0
    return [
        f"feed    {feed['rows']:,} tuples   peak {feed['peak_rows_per_s']:,}/s   "
        f"lag p99 {feed['lag_p99_ms']:.0f} ms, max {feed['lag_max_ms']:.0f} ms   "
        f"the driver's own share {share:.0%}",
        f"cycles  {cycles['count']:,}   mean {cycles['mean_ms']:.1f} ms, p99 {cycles['p99_ms']:.1f} ms, "
        f"max {cycles['max_ms']:.1f} ms   {cycles['of_several_seconds']:,} took several seconds at once, "
        f"backlog {cycles['largest_backlog_s']} s at most",
        *_database(facts),
        "steps   " + "   ".join(f"{name.removesuffix('_ms')} {ms:.1f} ms" for name, ms in steps),
    ]


def _outages(facts: dict[str, Any]) -> list[str]:
    """What came between, for a run that was resumed."""
    return [
        f"outage  {outage['seconds']:,.1f} s from {outage['from']:,.1f} s on: {outage['reason']}; "
        f"{outage['late_answers']:,} answers late because of it"
        for outage in facts.get("outages", ())
    ]


def _database(facts: dict[str, Any]) -> list[str]:
    """What the run cost the database beside time; other engines have no such costs, and a broken run cannot ask."""
    engine = facts["environment"]["engine"]
    if "wal_bytes" not in engine or facts["state"] == "broken":
        return []
    wal, tuples = engine["wal_bytes"], facts["feed"]["rows"]
    return [
        f"log     durability {engine['durability']}   "
        f"WAL {wal / 1e6:,.1f} MB, {wal / max(1, tuples):,.0f} bytes per tuple   "
        f"dead rows {engine['dead_rows']:,}   autovacuums {engine['autovacuums']:,}"
    ]


def _first_late_minute(facts: dict[str, Any]) -> int | None:
    for row in facts["minutes"]:
        if any(kind in row and row[kind]["max"] > spec.DEADLINE_S[kind] for kind in spec.ANSWERS):
            return int(row["minute"])
    return None
