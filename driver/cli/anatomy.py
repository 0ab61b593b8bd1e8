"""`lrb compare --anatomy`: what the price of a database is made of."""

from __future__ import annotations

import argparse
import json
import sys
from itertools import pairwise
from pathlib import Path
from textwrap import wrap

from driver.dataset.expressways import check_length
from driver.dataset.folder import open_dataset
from driver.rating.record import AnatomyRecord
from driver.run.engines import Backends
from polling_baseline import spec
from polling_baseline.engine import EngineFailure
from polling_baseline.refusal import Refusal
from polling_baseline.wording import WIDTH, fold_parts, format_count, format_seconds

LIMIT_S = spec.DEADLINE_S["toll"]
HEAD = ("rung", "what it changes", "us/tuple", "fixed ms")


def run_anatomy(args: argparse.Namespace) -> int:
    from driver.rating.anatomy import LOADS, READINGS, Ladder, dissect
    from driver.rating.anatomy_page import write_anatomy_page

    dataset = open_dataset(args.paths[0])
    out = args.out or Path("anatomy")
    loads = tuple(map(check_length, args.run_xways.split(","))) if args.run_xways else LOADS
    if len(set(loads)) < 2:
        raise Refusal(f"--xways {args.run_xways}: an anatomy needs two loads or more, such as --xways 1,10")
    minutes = dataset.seconds // spec.MINUTE_S
    part = None
    if args.run_from_minute or args.run_to_minute:
        part = int(args.run_from_minute or 1), int(args.run_to_minute or minutes)
    readings = args.readings or READINGS
    ladder = Ladder(out, dataset, Backends(args.dsn, args.master, args.database), _say, loads, readings, part)
    try:
        record = dissect(ladder)
    except EngineFailure as failure:
        print(f"lrb: {failure}; the same command goes on from here", file=sys.stderr)
        return 2
    write_anatomy_page(record, out, table_rows(record), sentences(record))
    print(json.dumps(record) if args.json else "\n".join(text(record, out)))
    return 0


def _say(what: str) -> None:
    print(f"anatomy: {what}", file=sys.stderr, flush=True)


def text(record: AnatomyRecord, folder: Path) -> list[str]:
    first, last = record["minutes"]
    conditions = [
        f"minutes {first} to {last} of {format_count(record['distinct'], 'distinct expressway')}",
        f"seed {record['seed']}",
        "one worker",
        f"{format_count(record['settings']['readings'], 'reading')} each, the median of their medians",
    ]
    rows = table_rows(record)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [*fold_parts("", conditions), ""]
    for row in rows:
        cells = [
            f"{cell:<{width}}" if at < 2 else f"{cell:>{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines.append("")
    for sentence in sentences(record):
        lines += wrap(sentence, WIDTH, subsequent_indent="  ")
    return [*lines, "", f"saved  {folder}   anatomy.json  anatomy.html  runs/"]


def table_rows(record: AnatomyRecord) -> list[tuple[str, ...]]:
    """The ladder with its heading: what a tuple adds, what a cycle takes without any, and both together by load."""
    loads = list(record["rungs"][0]["loads"])
    heading = (*HEAD, *(f"L = {xways}" for xways in loads), "times", "toll p50", "lines")
    rows: list[tuple[str, ...]] = [heading]
    before = None
    for rung in record["rungs"]:
        at_most = rung["loads"][loads[-1]]
        rows.append(
            (
                rung["name"],
                rung["change"],
                f"{rung['tuple_us']:.2f}",
                f"{rung['fixed_ms']:.2f}",
                *(f"{load['tuple_us']:.2f}" for load in rung["loads"].values()),
                "" if before is None else f"{at_most['tuple_us'] / before:.2f}",
                format_seconds(at_most["toll_p50_s"], LIMIT_S),
                f"{rung['code_lines']:,}",
            )
        )
        before = at_most["tuple_us"]
    return rows


def sentences(record: AnatomyRecord) -> list[str]:
    """What the ladder says."""
    rungs = record["rungs"]
    most = list(rungs[0]["loads"])[-1]
    cost = {rung["name"]: rung["loads"][most]["tuple_us"] for rung in rungs}
    names = list(cost)
    steps = [f"{name} {cost[name] / cost[before]:.2f}" for before, name in pairwise(names)]
    lines = [
        f"At L = {most} a tuple costs {cost[names[-1]] / cost[names[0]]:,.0f} times as much on the last rung as on the "
        f"first.  That is the product of the steps: {', '.join(steps)}."
    ]
    if {"stream", "server"} <= set(names):
        lines.append(
            f"A polled server with the best design costs {cost['server'] / cost['stream']:.1f} times as much as the "
            "stream engine; the paper's ratings differ by 5."
        )
    lines += _spread(record)
    wrong = [rung["name"] for rung in rungs if not all(load["right"] for load in rung["loads"].values())]
    lines += [f"{name} gave WRONG answers: its figures are worth nothing." for name in wrong]
    lines.append(
        "us/tuple is what each tuple adds to a cycle, fixed ms what a cycle takes without any: a line through the "
        "medians at these loads. Columns L have the whole cycle in us per tuple, times compares it with the rung "
        f"before at L = {most}, toll p50 is the median response time there in s. Lines are those of Python and SQL."
    )
    return lines


def _spread(record: AnatomyRecord) -> list[str]:
    """How far the readings of one rung and load lie apart, at worst."""
    spreads = {
        f"{rung['name']} at L = {xways}": max(load["readings_ms"]) / min(load["readings_ms"]) - 1
        for rung in record["rungs"]
        for xways, load in rung["loads"].items()
        if len(load["readings_ms"]) > 1
    }
    if not spreads:
        return []
    widest = max(spreads, key=lambda name: spreads[name])
    return [f"The readings of a rung lie up to {spreads[widest]:.0%} apart ({widest})."]
