"""`lrb reproduce`: the paper's tables, beside this machine."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

from driver.cli import add_limits_argument
from driver.cli.engine_arguments import add_engine_arguments, engine_options
from driver.cli.rate import MOST_MINUTES, add_road_arguments, road_from
from driver.rating.paper import BRIEF, IGNORED, LIMIT_S, ON_REQUEST, STRICTER_LIMIT_S, SYSTEM_X, VARIANTS, Variant
from driver.rating.record import PublishedRecord, ReproductionRecord, SlowerRecord, VariantRecord
from driver.run.config import ENGINE_OPTIONS, FOREIGN, NAMES_A_SYSTEM, RunConfig, configure
from driver.run.engines import Backends
from polling_baseline.refusal import Refusal
from polling_baseline.wording import WIDTH, fold_parts, format_count, format_seconds

SUMMARY = "Reproduce the paper's tables 7 and 8: L-ratings, and the longest response times at 0.5 to 3 expressways."
EXAMPLES = """\
  lrb reproduce --brief                          System X and Aurora as the paper tells them, one run of each
  lrb reproduce                                  all variants, judged: about two hours
  lrb reproduce --only 2004,box                  some of them; interrupted, the same command goes on where it was
  lrb reproduce --catch-up on --ignore none      not by the paper's schedule, and with all requests
  lrb reproduce --limits tibbetts                the ratings by other limits as well; runs that are there stay
  lrb reproduce --brief --command './my_system'  a system of your own beside System X, by the same arithmetic
  lrb reproduce --brief --minutes 20 --out try   a try-out, on a road too short to mean much

Runs are made as in the paper: one second per cycle, however late it is, and no travel times.  What a cycle takes here,
multiplied by one factor per variant, is laid on the driver's schedule.  The factor is fitted to one number of the
paper: the longest response time at the first scale factor that failed.  All other numbers of the column follow from
it.  A run with `lrb run --slower` and that factor confirms the fit of 2004, box and superbox, except with --brief; the
other variants are run at two scale factors only.
Without --workers there is one: the same system at all scale factors, as on a machine with one processor.
"""
NAMES, ASKED_FOR = (tuple(variant.name for variant in variants) for variants in (VARIANTS, ON_REQUEST))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--brief", action="store_true", help="a first impression, from one run of each variant")
    parser.add_argument(
        "--only",
        metavar="NAME,...",
        help=f"these variants: {', '.join(NAMES)} [all of these], {', '.join(ASKED_FOR)}",
    )
    parser.add_argument("--clock", choices=("real", "virtual"), default="virtual", help="[virtual]")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", default=Path("reproduction"), help="where everything goes [reproduction]"
    )
    parser.add_argument("--json", action="store_true", help="print reproduction.json instead of tables")
    add_limits_argument(parser, "specification", "; the shortest decides, of all kinds that are not ignored")
    add_road_arguments(parser, distinct=3)
    add_engine_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from driver.rating.reproduce import reproduce
    from driver.rating.reproduction_page import write_reproduction_page
    from driver.rating.reproduction_sentences import sentences
    from driver.rating.variant_runs import Plan
    from polling_baseline.engine import EngineFailure

    _refuse_fixed_options(args)
    variants = _variants(args)
    dataset = road_from(args, args.out)
    options = {**engine_options(args), "workers": args.workers or 1}
    # As in the paper, unless something else is asked for.
    options["catch_up"] = bool(options["catch_up"])
    options["ignore"] = IGNORED if options["ignore"] is None else options["ignore"]

    def config_for(variant: Variant, xways: float, slower: float) -> RunConfig:
        own = {"engine": variant.engine, "engine_options": dict(variant.options), "slower": slower}
        return configure(**{**options, **own}, dataset=str(dataset.path), xways=xways)

    backends = Backends(args.dsn, args.master, args.database)
    plan = Plan(args.out, dataset, config_for, backends, _say, variants, args.brief, args.limits or {})
    try:
        record = reproduce(plan)
    except EngineFailure as failure:
        print(f"lrb: {failure}; the same command goes on from here", file=sys.stderr)
        return 2
    systems = {
        name: [variant for variant in record["variants"] if variant["system"] == name] for name in record["systems"]
    }
    tables = {name: table_rows(record, name, variants) for name, variants in systems.items() if variants}
    write_reproduction_page(record, args.out, tables, volume_rows(record), _conditions(record), sentences(record))
    print(json.dumps(record) if args.json else "\n".join(text(record, args.out)))
    return 0


def _refuse_fixed_options(args: argparse.Namespace) -> None:
    """What a variant says, the user does not."""
    foreign = set(_foreign_options(args))
    for option in ("slower", *(name for options in ENGINE_OPTIONS.values() for name in options)):
        if getattr(args, option) is not None and option not in foreign:
            raise Refusal(f"lrb reproduce chooses --{option.replace('_', '-')} itself; leave it out")


def _foreign_options(args: argparse.Namespace) -> dict[str, str]:
    """The options of a system that others wrote, if one takes part."""
    names = {name for engine in FOREIGN for name in ENGINE_OPTIONS[engine]}
    options = {name: str(getattr(args, name)) for name in sorted(names) if getattr(args, name) is not None}
    return options if options.keys() & set(NAMES_A_SYSTEM) else {}


def _variants(args: argparse.Namespace) -> tuple[Variant, ...]:
    there = list(VARIANTS)
    if options := _foreign_options(args):
        name = "exec" if "command" in options else "tcp"
        there.insert(0, Variant(name, SYSTEM_X, name, options))
    if args.only is None:
        return tuple(variant for variant in there if not args.brief or variant.name in (*BRIEF, *FOREIGN))
    names = [name.strip() for name in args.only.split(",")]
    there += ON_REQUEST
    for name in names:
        if name in FOREIGN and name not in [variant.name for variant in there]:
            raise Refusal(f"--only {name} needs {'--command' if name == 'exec' else '--listen or --connect'}")
        if name not in (*NAMES, *ASKED_FOR, *FOREIGN):
            there_are = ", ".join((*NAMES, *ASKED_FOR))
            raise Refusal(f"--only {args.only}: there is no variant {name!r}; there are {there_are}")
    return tuple(variant for variant in there if variant.name in names)


def _say(what: str) -> None:
    print(f"reproduce: {what}", file=sys.stderr, flush=True)


def text(record: ReproductionRecord, folder: Path) -> list[str]:
    """A table per system, volumes, and what they say."""
    from driver.rating.reproduction_sentences import sentences

    lines = fold_parts("", _conditions(record))
    for system in record["systems"]:
        if variants := [variant for variant in record["variants"] if variant["system"] == system]:
            lines += ["", *_table(record, system, variants)]
    lines += ["", *_volumes(record), ""]
    for sentence in sentences(record):
        lines += wrap(sentence, WIDTH, subsequent_indent="  ")
    return [*lines, "", f"saved  {folder}   reproduction.json  reproduction.html  runs/"]


def _conditions(record: ReproductionRecord) -> list[str]:
    last, settings = record["minutes"][1], record["settings"]
    return [
        f"{format_count(last, 'minute')} of {format_count(record['distinct'], 'distinct expressway')}, "
        f"seed {record['seed']}, {record['clock']} clock, {format_count(settings['workers'], 'worker')}",
        f"catch-up {'on' if settings['catch_up'] else 'off'}",
        f"{', '.join(settings['ignore']).replace('_', ' ') or 'nothing'} ignored",
        *([] if last == MOST_MINUTES else [f"The paper's runs took {MOST_MINUTES} minutes: this is a try-out."]),
    ]


def _table(record: ReproductionRecord, system: str, variants: Sequence[VariantRecord]) -> list[str]:
    """What does not fit into the width goes below, beside the paper again."""
    rows = table_rows(record, system, variants)
    wide = max(len(row[0]) for row in rows)
    widths = [0, *(max(len(row[column]) for row in rows) + 3 for column in range(1, len(rows[0])))]
    blocks: list[list[int]] = [[1]]
    for column in range(2, len(widths)):
        if wide + sum(widths[other] for other in (*blocks[-1], column)) > WIDTH:
            blocks.append([1])
        blocks[-1].append(column)
    lines = [f"{system}: longest response time of a toll notification (s)"]
    for number, block in enumerate(blocks):
        lines += [""] * (number > 0)
        lines += [f"{row[0]:<{wide}}" + "".join(f"{row[column]:>{widths[column]}}" for column in block) for row in rows]
    return lines


def table_rows(record: ReproductionRecord, system: str, variants: Sequence[VariantRecord]) -> list[tuple[str, ...]]:
    """Tables 7 and 8 of one system: the paper, and each variant slowed down."""
    paper, slower = record["systems"][system], [variant["slower"] for variant in variants]
    fails_at = f"{paper['fails_at']:g}"

    def response(variant: VariantRecord, xways: str) -> str:
        mark = "~" if xways in variant["slower"]["predicted"] else ""
        return mark + _seconds(variant["slower"]["max_response_s"][xways])

    def by(name: str, then: str, cells: list[str]) -> tuple[str, ...]:
        return (name, then, *cells)

    return [
        by("XWays", "paper", [variant["name"] for variant in variants]),
        *[
            by(xways, f"{then:,}", [response(variant, xways) for variant in variants])
            for xways, then in paper["max_response_s"].items()
        ],
        by(
            f"first late at L = {fails_at}",
            f"{paper['first_late_second']:,}",
            ["-" if fit["first_late_second"] is None else f"{fit['first_late_second']:,}" for fit in slower],
        ),
        by("L-rating", f"{paper['rating']:g}", [_rating(fit["rating"], paper) for fit in slower]),
        by(
            f"with {STRICTER_LIMIT_S} s instead of {LIMIT_S}",
            "?",
            [_rating(fit["stricter_rating"], paper) for fit in slower],
        ),
        *_by_limits(record, paper, slower),
        by("slowed down", "", [f"{fit['factor']:,.1f} x" for fit in slower]),
        by("missed by, mean", "", [f"{fit['mean_error']:.2f} x" for fit in slower]),
        by(f"a run with --slower, L = {fails_at}", "", [_confirmed(fit) for fit in slower]),
        by("judged", "", [_judged(variant) for variant in variants]),
        by("longest here (s)", "", [_longest(variant) for variant in variants]),
    ]


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}" if value >= 10 else format_seconds(value, LIMIT_S)


def _by_limits(
    record: ReproductionRecord, paper: PublishedRecord, slower: Sequence[SlowerRecord]
) -> list[tuple[str, ...]]:
    if not record["limits"]:
        return []
    return [(f"by --limits: {record['limit_s']} s", "?", *(_rating(fit["rating_by_limits"], paper) for fit in slower))]


def _rating(rating: float, paper: PublishedRecord) -> str:
    """Where nothing failed, it may be more."""
    return f"{rating:g}" + (" or more" if rating == max(map(float, paper["max_response_s"])) else "")


def _confirmed(slower: SlowerRecord) -> str:
    return "-" if slower["confirmed"] is None else _seconds(slower["confirmed"]["max_response_s"])


def _judged(variant: VariantRecord) -> str:
    """Whether the answers are right; that they are late where they are slowed down is what is measured."""
    verdicts = {run["verdict"] for run in variant["runs"].values()}
    return "PASS" if verdicts == {"PASS"} else "-" if None in verdicts else "FAIL"


def _longest(variant: VariantRecord) -> str:
    longest = max((run["max_response_s"] or 0 for run in variant["runs"].values()), default=0)
    return format_seconds(longest, LIMIT_S)


def volume_rows(record: ReproductionRecord) -> list[tuple[str, str, str]]:
    """Section 4.3.1: what went in and came out."""
    rows = [("Three hours of one expressway", "paper", "here")]
    rows += [
        (name, f"{volume['paper']:,}", "-" if volume["here"] is None else f"{volume['here']:,}")
        for name, volume in record["volumes"].items()
    ]
    for system, paper in record["systems"].items():
        runs = [
            run
            for variant in record["variants"]
            if variant["system"] == system
            for xways, run in variant["runs"].items()
            if float(xways) == paper["rating"]
        ]
        ours = f"{runs[0]['input_per_s']:,.0f} / {runs[0]['output_per_s']:,.0f}" if runs else "-"
        then = f"{paper['input_per_s']:,} / {paper['output_per_s']}"
        rows.append((f"{system} at L = {paper['rating']:g}: in / out per s", then, ours))
    return rows


def _volumes(record: ReproductionRecord) -> list[str]:
    rows = volume_rows(record)
    wide = max(len(row[0]) for row in rows)
    return [f"{name:<{wide}}{then:>14}{ours:>14}" for name, then, ours in rows]
