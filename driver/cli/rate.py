"""`lrb rate`: the largest L at which every answer is there, right and in time."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from driver.cli import add_limits_argument, parse_length, parse_repeat
from driver.cli.engine_arguments import add_engine_arguments, engine_options
from driver.run.config import RunConfig, configure
from driver.run.engines import ENGINES, Backends
from driver.run.limits import describe_limits, limits_in_force
from driver.run.machine import BUSY_CORES
from polling_baseline import spec
from polling_baseline.refusal import Refusal
from polling_baseline.wording import WIDTH, fold_parts, format_count, format_seconds

if TYPE_CHECKING:
    from driver.dataset.folder import Dataset
    from driver.rating.record import CandidateRecord, RatingRecord

SUMMARY = "Find an engine's rating: the largest L at which every answer is present, right and in time."
EXAMPLES = """\
  lrb rate --engine polling --quick              the peak rating: the last 20 minutes, when traffic is densest
  lrb rate --engine polling --out mine           the L-rating: all 180 minutes; hours of work if L is large
  lrb rate --engine polling --out mine           after an interruption: goes on where it was
  lrb rate --engine polling --quick --repeat 3   the edge three times: the median and the range
  lrb rate --engine polling --quick --step 5 --max 100 --json

Large L are copies of --distinct simulated expressways, with numbers of their own; history is not copied.  L is doubled
until an answer is late, then halved in between; the last failure is tried once more, since chance may have caused it.
Whoever is late in the last 20 minutes is late in all 180: on the virtual clock, L is tried on those first, and what
comes through is run in full.  With --repeat, the edge is looked for again, step by step from where it was found; an
earlier rating is continued.  The winner and the loser are judged by the reference.  Each candidate's run stays in
DIR/runs.
"""
MOST_MINUTES = spec.RUN_SECONDS // spec.MINUTE_S
BAR = 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--engine", choices=ENGINES, default="polling", help="the system under test [polling]")
    parser.add_argument("--quick", action="store_true", help="the last 20 minutes only: a peak rating, no L-rating")
    parser.add_argument("--step", type=parse_length, default=0.5, metavar="L", help="how fine to look [0.5]")
    parser.add_argument("--start", type=parse_length, metavar="L", help="the first L to try [1]")
    parser.add_argument(
        "--max", type=parse_length, default=float(spec.MAX_XWAYS), metavar="L", help="stop there [1000]"
    )
    parser.add_argument(
        "--repeat", type=parse_repeat, metavar="N", help="find the edge N times: the median and the range [1]"
    )
    parser.add_argument("--clock", choices=("real", "virtual"), default="virtual", help="real for a proof [virtual]")
    add_limits_argument(parser, "specification", "; a rating by others is no L-rating")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where everything goes [ratings/ENGINE-KIND]")
    parser.add_argument("--json", action="store_true", help="print rating.json instead of a table")
    add_road_arguments(parser, distinct=1)
    add_engine_arguments(parser)


def add_road_arguments(parser: argparse.ArgumentParser, distinct: int) -> None:
    """The expressways that all runs are made of."""
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="what chance depends on [42]")
    parser.add_argument(
        "--distinct", type=int, default=distinct, metavar="K", help="expressways to simulate [%(default)s]"
    )
    parser.add_argument(
        "--minutes", type=int, default=MOST_MINUTES, metavar="N", help="a shorter road, to try things out [180]"
    )
    parser.add_argument("--history-days", type=int, default=69, metavar="N", help="days of history [69]")
    parser.add_argument("--dataset", type=Path, metavar="DATASET", help="take these expressways instead [DIR/road]")


def road_from(args: argparse.Namespace, folder: Path) -> Dataset:
    """The data set that the arguments name, or one made as they say, once."""
    from driver.dataset.folder import open_dataset
    from driver.generate.generate import GenerateOptions, generated

    if args.dataset:
        return open_dataset(args.dataset)
    if args.distinct < 1:
        raise Refusal(f"--distinct {args.distinct}: at least one expressway is simulated")
    wanted = GenerateOptions(float(args.distinct), args.minutes, args.seed, args.history_days)
    return generated(wanted, folder / "road", args.master)


def run(args: argparse.Namespace) -> int:
    from driver.json_record import write_json
    from driver.rating.rating import QUICK_MINUTES, Rating, judge_run, rating_record
    from driver.rating.record import RATING
    from driver.rating.search import Search

    search = Search(args.start or max(1.0, args.step), args.step, args.max)
    if any(value % args.step for value in (search.start, search.most)):
        raise Refusal(f"--start {search.start:g} and --max {search.most:g} must be multiples of --step {args.step:g}")
    folder = args.out or Path("ratings") / f"{args.engine}-{'peak' if args.quick else 'full'}"
    dataset = road_from(args, folder)
    minutes = dataset.seconds // spec.MINUTE_S
    peak = max(1, minutes - QUICK_MINUTES + 1)

    def config_for(xways: float, first: int = peak if args.quick else 1) -> RunConfig:
        return configure(
            **engine_options(args),
            engine=args.engine,
            dataset=str(dataset.path),
            xways=xways,
            from_minute=first,
            to_minute=minutes,
            stop_when_late=True,
            limits=args.limits,
            # Who begins in mid-road meets all cars of the road as new ones, in the time between two reports.
            warm_up_s=spec.REPORT_PERIOD_S if first > 1 else 0,
        )

    # The real clock does not wait for a warm-up, so a peak alone would tell nothing there.
    peak_first = peak > 1 and not args.quick and args.clock == "virtual"
    peak_for = (lambda xways: config_for(xways, peak)) if peak_first else None
    rating = Rating(folder, dataset, search, config_for, Backends(args.dsn, args.master, args.database), peak_for)
    rating.run(lambda path: judge_run(dataset, path, args.master), _say, args.repeat or 1)
    record = rating_record(rating, "peak" if args.quick else "full" if minutes == MOST_MINUTES else "part")
    write_json(folder / RATING, record)
    print(json.dumps(record) if args.json else "\n".join(text(record, folder)))
    return 2 if rating.winner is None and rating.loser and rating.loser.state == "broken" else 0


def _say(what: str) -> None:
    print(f"rate: {what}", file=sys.stderr, flush=True)


def text(record: RatingRecord, folder: Path) -> list[str]:
    """The rating for a terminal: the number, what it rests on, the curve, and what gave out."""
    first, last = record["minutes"]
    limits = limits_in_force(record["settings"].get("limits", {}))
    others = describe_limits(limits)
    part = f"rating of {format_count(last, 'minute')}"
    names = {"full": part if others else "L-rating", "peak": "peak rating", "part": part}
    shortest = min(limits.values())
    distinct = format_count(record["distinct"], "distinct expressway")
    conditions = [
        f"minutes {first} to {last}, {record['clock']} clock, seed {record['seed']}, in steps of {record['step']:g}",
        *([] if record["kind"] == "full" else [f"(an L-rating takes minutes 1 to {MOST_MINUTES})"]),
    ]
    in_mid_road = any(candidate["minutes"][0] > 1 for candidate in record["candidates"])
    warm_up = f"in the first {spec.REPORT_PERIOD_S} s of a run from mid-road every car is new: they hold nothing up"
    return [
        f"{names[record['kind']]} of {record['engine']}{' under other limits' if others else ''}: {record['rating']:g}"
        + _range(record),
        *textwrap.wrap(f"{others}: no L-rating" if others else "", WIDTH),
        *fold_parts("", conditions),
        f"made of {distinct}, relabelled; history is that of the distinct",
        *([warm_up] if in_mid_road else []),
        "",
        f"{'L':>7}  {'minutes':<9}{'outcome':<9}{'judged':<8}{'longest (s)':>11}{'tuples/s of work':>18}"
        f"  0 s{f'{shortest} s':>{BAR - 3}}",
        *[_row(candidate, shortest) for candidate in record["candidates"]],
        "",
        _ending(record),
        *_others(record),
        f"saved  {folder}   rating.json  runs/",
    ]


def _range(record: RatingRecord) -> str:
    """What several looks at the edge came to."""
    ratings = record.get("ratings", [])
    if len(ratings) < 2:
        return ""
    return f", the median of {', '.join(f'{rating:g}' for rating in ratings)}"


def _others(record: RatingRecord) -> list[str]:
    """A sentence if something else was running when runs began."""
    candidates = record["candidates"]
    busy = [cores for candidate in candidates if (cores := candidate.get("others_cores") or 0) >= BUSY_CORES]
    if not busy:
        return []
    of_all = f"{len(busy)} of {format_count(len(candidates), 'run')}"
    return textwrap.wrap(
        f"Something else was running when {of_all} began: it kept up to {max(busy):.1f} cores busy; "
        "on an idle machine the rating may be larger.",
        WIDTH,
    )


def _row(candidate: CandidateRecord, limit: float) -> str:
    judged = {None: "-", True: "right", False: "wrong"}[candidate["right"]]
    minutes = "-".join(map(str, candidate["minutes"]))
    longest = candidate["max_response_s"]
    length = 0 if longest is None else round(BAR * longest / limit)
    bar = "#" * min(length, BAR) + (">" if longest is not None and longest > limit else "")
    shown = "-" if longest is None else format_seconds(longest, limit)
    return (
        f"{candidate['xways']:>7g}  {minutes:<9}{candidate['verdict']:<9}{judged:<8}{shown:>11}"
        f"{candidate['tuples_per_s']:>18,.0f}"
        f"  {bar}"
    ).rstrip()


def _ending(record: RatingRecord) -> str:
    """Why it is not more."""
    loser = next(
        (candidate for candidate in record["candidates"] if Path(candidate["run"]).name == record["loser"]), None
    )
    if loser is None:
        return f"Nothing gave out: --max {record['max']:g} was reached."
    if loser["verdict"] == "wrong":
        return f"L = {loser['xways']:g} is wrong: lrb validate --explain 3 says why."
    cause = record["gave_out"] or {}
    if loser["verdict"] == "broken":
        return f"L = {loser['xways']:g} broke: {cause['reason']}."
    if "minute" not in cause:
        return f"L = {loser['xways']:g} was late."
    step = f": {cause['share']:.0%} of the work just before was {cause['step']}" if "step" in cause else ""
    return f"L = {loser['xways']:g} was late first in minute {cause['minute']} (second {cause['second']:,}){step}."
