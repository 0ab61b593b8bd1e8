"""`lrb reproduce`: the paper's tables, beside this machine."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal

from driver.cli.rate import MOST_MINUTES, add_road_arguments, road_from
from driver.cli.run import add_engine_arguments, engine_options
from driver.rating.record import CostRecord, ReproductionRecord, SystemRecord
from driver.run.config import RunConfig, configure
from driver.run.engines import Backends
from polling_baseline import spec
from polling_baseline.wording import WIDTH, fold_parts, format_count, format_seconds

SUMMARY = "Reproduce the paper's tables 7 and 8: L-ratings, and the longest response times at 0.5 to 3 expressways."
EXAMPLES = """\
  lrb reproduce                                  three hours of 0.5 to 3 expressways; some minutes of work for each
  lrb reproduce --minutes 20 --out try           a try-out, on a road too short to mean much
  lrb reproduce --json                           for another program; interrupted, it goes on where it was

"Slowed down" takes what a cycle takes here (a fixed part and one per tuple, by all runs of an engine), multiplies it by
one factor per system, and replays the driver's schedule with that.  The factor is fitted to one number of the paper:
the longest response time at the first scale factor that failed.  All other numbers of that column follow from it.
Without --workers there is one: the same system at all scale factors, as on a machine with one processor.
"""
COLUMN = 14
Column = Literal["paper", "here", "slowed"]
COLUMNS: tuple[Column, ...] = ("paper", "here", "slowed")
LIMIT_S = spec.DEADLINE_S["toll"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clock", choices=("real", "virtual"), default="virtual", help="[virtual]")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", default=Path("reproduction"), help="where everything goes [reproduction]"
    )
    parser.add_argument("--json", action="store_true", help="print reproduction.json instead of tables")
    add_road_arguments(parser, distinct=3)
    add_engine_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from driver.rating.reproduce import reproduce
    from polling_baseline.engine import EngineFailure

    dataset = road_from(args, args.out)

    def config_for(engine: str, xways: float) -> RunConfig:
        options = {**engine_options(args), "workers": args.workers or 1}
        return configure(**options, dataset=str(dataset.path), engine=engine, xways=xways)

    try:
        record = reproduce(args.out, dataset, config_for, Backends(args.dsn, args.master, args.database), _say)
    except EngineFailure as failure:
        print(f"lrb: {failure}; the same command goes on from here", file=sys.stderr)
        return 2
    print(json.dumps(record) if args.json else "\n".join(text(record, args.out)))
    return 0


def _say(what: str) -> None:
    print(f"reproduce: {what}", file=sys.stderr, flush=True)


def text(record: ReproductionRecord, folder: Path) -> list[str]:
    """Both tables, what was used, and what they prove."""
    systems = record["systems"]
    last = record["minutes"][1]
    conditions = [
        f"{format_count(last, 'minute')} of {format_count(record['distinct'], 'distinct expressway')}, "
        f"seed {record['seed']}, {record['clock']} clock, {format_count(record['settings']['workers'], 'worker')}",
        *([] if last == MOST_MINUTES else [f"The paper's runs took {MOST_MINUTES} minutes: this is a try-out."]),
    ]
    heading = f"{'':8}" + "".join(f"{_title(each):^{3 * COLUMN}}" for each in systems).rstrip()
    columns = f"{'':8}" + "".join(f"{word:>{COLUMN}}" for _ in systems for word in ("2004", "here", "slowed down"))
    return [
        *fold_parts("", conditions),
        "",
        "Table 7. L-ratings",
        heading,
        columns,
        f"{'':8}" + "".join(_cell(_rating(each, column)) for each in systems for column in COLUMNS),
        "",
        "Table 8. Longest response time of a toll notification (s)",
        heading,
        f"{'XWays':<8}{columns[8:]}",
        *[_row(f"{xways:g}", systems) for xways in record["scale_factors"]],
        _row_of_first_late(systems),
        "",
        *[
            line
            for each in systems
            for sentence in _about(each)
            for line in wrap(sentence, WIDTH, subsequent_indent="  ")
        ],
        *WHAT_IT_PROVES,
        f"saved  {folder}   reproduction.json  runs/",
    ]


WHAT_IT_PROVES = (
    "",
    "Slowed down: what a cycle takes, by the medians of all runs, times the factor, on the schedule of",
    "the driver; a batch of several seconds pays the fixed part once.",
    "What this proves: how far one number explains the whole curve.  Where the slowed-down column follows",
    "the paper, a system that works like this one, only slower, would have shown what was seen in 2004.",
    "What it does not prove: why it is slower.  The factor holds the processor, the disk, the database",
    "and the program of 2004, and none of them can be told from the others.  Where the paper's times grow",
    "faster than the column, that system lost more with load than one factor can say.",
)


def _title(system: SystemRecord) -> str:
    return f"{system['name']} ({system['engine']})"


def _cell(word: str) -> str:
    return f"{word:>{COLUMN}}"


def _rating(system: SystemRecord, column: Column) -> str:
    found = system[column]
    if found is None:
        return ""
    return f"{found['rating']:g}" + (" or more" if found.get("at_least") else "")


def _row(xways: str, systems: list[SystemRecord]) -> str:
    def seconds(system: SystemRecord, column: Column) -> str:
        results = system[column]
        if results is None:
            return ""
        found = results["max_response_s"].get(xways)
        # The paper's clock had whole seconds, and nothing shorter matters where answers are late.
        return (
            "-"
            if found is None
            else f"{found:,.0f}"
            if column == "paper" or found >= 10
            else format_seconds(found, LIMIT_S)
        )

    cells = [_cell(seconds(each, column)) for each in systems for column in COLUMNS]
    return f"{xways:<8}{''.join(cells)}".rstrip()


def _row_of_first_late(systems: list[SystemRecord]) -> str:
    """The Time of the first late answer at the scale factor that failed first in 2004."""

    def second(system: SystemRecord, column: Column) -> str:
        results: Mapping[str, Any] = system[column] or {}
        found = results.get("first_late_second")
        return "" if found is None else f"at {found:,}"

    cells = [_cell(second(each, column)) for each in systems for column in COLUMNS]
    return f"{'late':<8}{''.join(cells)}".rstrip()


def _about(system: SystemRecord) -> list[str]:
    found, fails_at = system["slowed"], f"{system['fails_at']:g}"
    if found is None:
        return [f"{system['name']}: there is no engine {system['engine']} here yet; its columns stay empty."]
    sentences = [
        f"{system['name']}: slowed down {found['factor']:,.1f} times; fitted to {found['fitted_to_s']:,} s at "
        f"L = {fails_at}.",
        f"  Here a cycle takes {_cost(found['cycle'])}; the first of a minute {_cost(found['minute'])}.",
    ]
    if not found["hits"]:
        sentences.append(
            f"  With more, L = {system['paper']['rating']:g} would be late as well: no constant factor gives both "
            f"{found['fitted_to_s']:,} s there and less than {LIMIT_S} s below it."
        )
    if found["max_response_s"][fails_at] <= LIMIT_S:
        sentences.append(f"  Even so, L = {fails_at} is in time: this engine does not give out between the two.")
    for xways, then in system["paper"]["max_response_s"].items():
        now = found["max_response_s"][xways]
        if then > LIMIT_S and xways != fails_at:
            sentences.append(f"  At L = {xways} the factor gives {now:,.0f} s; in 2004 it was {then:,} s.")
    return sentences


def _cost(cost: CostRecord) -> str:
    return f"{cost['fixed_ms']:.1f} ms and {cost['tuple_us']:.2f} us per tuple"
