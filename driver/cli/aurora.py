"""`lrb aurora`: a look at the stream engine's network, drawn or reckoned."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driver.cli import FAIL_STATUS, Help, parse_length
from polling_baseline.refusal import Refusal
from polling_baseline.wording import fold_parts, format_count

if TYPE_CHECKING:
    from polling_baseline.engines.aurora.inspect.forecast import Load

SUMMARY = "Draw the network of engine aurora, predict what it holds, or ask it something while it runs."
EXAMPLES = """\
  lrb aurora draw --out network.svg                 boxes, arrows, connection points
  lrb aurora draw runs/0003-aurora-L1 --out run.svg the same, with each box's tuples, cost and selectivity
  lrb aurora check --xways 100                      does this machine hold L = 100, and what gives way first?
  lrb aurora check --xways 100 runs/0003-aurora-L1  the same, with the costs and selectivities of that run
  lrb aurora check --xways 100 --dataset road1      for copies of the expressways in road1, at their own peak
  lrb aurora query runs/0004-aurora-L1 --at reports --where 'speed_mph < 10' --group seg
                                                    beside a run: where do cars crawl, minute by minute, until Ctrl-C?
"""


FAILS = ", 3 the machine does not hold so many expressways (check)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def action(name: str, text: str) -> argparse.ArgumentParser:
        subparser = actions.add_parser(name, help=text, description=text, formatter_class=Help)
        subparser.add_argument("folder", metavar="RUN", type=Path, nargs="?", help="a run of engine aurora")
        return subparser

    draw = action("draw", "the network as SVG, on stdout or in a file")
    draw.add_argument("--out", metavar="FILE.svg", type=Path, help="where to write it [stdout]")
    _add_check_arguments(
        action("check", "predict whether this machine holds L expressways; exit status 3 if it does not")
    )
    _add_query_arguments(
        action("query", "attach a query to a run under way: what its connection point kept, then live, until Ctrl-C")
    )


def _add_check_arguments(check: argparse.ArgumentParser) -> None:
    check.add_argument("--xways", metavar="L", type=parse_length, required=True, help="number of expressways")
    check.add_argument("--workers", metavar="N", type=int, default=os.cpu_count() or 1, help="processes [cores]")
    kind = check.add_mutually_exclusive_group()
    kind.add_argument("--distinct", metavar="K", type=float, help="expressways with a history of their own [L]")
    kind.add_argument(
        "--dataset", type=Path, help="copies of these expressways, at their peak [2000 to 2500 reports/s]"
    )
    check.add_argument(
        "--clock", choices=("real", "virtual"), default="virtual", help="the real one reads further ahead [virtual]"
    )
    check.add_argument(
        "--quick", action="store_true", help="a run of the last 20 minutes only, as in `lrb rate --quick`"
    )
    check.add_argument("--json", action="store_true", help="print JSON instead")


def _add_query_arguments(query: argparse.ArgumentParser) -> None:
    query.add_argument(
        "--at",
        metavar="POINT",
        default="reports",
        help="a connection point: reports, accidents, segment minutes or notifications [%(default)s]",
    )
    query.add_argument(
        "--where",
        metavar="CONDITION",
        help="which tuples: columns, whole numbers, + - * %%, comparisons, and, or, not, brackets [all]",
    )
    query.add_argument("--group", metavar="COLUMN", help="count tuples by this column, instead of printing them")
    query.add_argument("--every", metavar="S", type=int, default=60, help="with --group: seconds per count [60]")


def run(args: argparse.Namespace) -> int:
    return {"draw": _draw, "check": _check, "query": _query}[args.action](args)


def _query(args: argparse.Namespace) -> int:
    from driver.run.loop import QUERIES
    from polling_baseline.engines.aurora.ad_hoc.desk import asked_rows

    if args.folder is None:
        raise Refusal("name a run of engine aurora that is under way")
    shown = False

    def show(columns: list[str], rows: list[list[Any]]) -> None:
        nonlocal shown
        lines = [] if shown else [columns]
        shown = True
        print("\n".join(",".join(map(str, line)) for line in [*lines, *rows]), end="\n" if lines or rows else "")
        sys.stdout.flush()

    with contextlib.suppress(KeyboardInterrupt):
        asked_rows(
            args.folder / QUERIES,
            {"at": args.at, "where": args.where, "group": args.group, "every_s": args.every},
            show,
        )
    return 0


def _draw(args: argparse.Namespace) -> int:
    from polling_baseline.engines.aurora.inspect.draw import svg

    drawing = svg(_network_of(args.folder) if args.folder else _untouched())
    if args.out is None:
        print(drawing, end="")
        return 0
    try:
        args.out.write_text(drawing)
    except OSError as error:
        raise Refusal(f"cannot write {args.out}: {error.strerror}") from None
    print(args.out)
    return 0


def _check(args: argparse.Namespace) -> int:
    from driver.progress import progress
    from polling_baseline.engines.aurora.inspect import forecast as analysis
    from polling_baseline.engines.aurora.inspect.forecast import HEADROOM

    if args.workers < 1:
        raise Refusal(f"--workers must be 1 or more, not {args.workers}")
    loaded = _network_of(args.folder) if args.folder else None
    loads = _loads(args)
    with progress("measure this machine", 1) as advance:
        costs = analysis.calibrate()
        advance(1)
    if loaded is not None:
        costs = analysis.with_run(costs, loaded)
    workers = min(args.workers, max(1, round(args.xways)))
    cores = os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    casts = [analysis.forecast(costs, args.xways, load, workers) for load in loads]
    bounds = analysis.limits(costs, loads[-1], cores, memory)
    worst = casts[-1]
    heaviest = sorted(worst.box_s.items(), key=lambda item: -item[1])
    holds = worst.worker_s <= HEADROOM and worst.cores_s <= HEADROOM * cores and worst.memory_bytes <= HEADROOM * memory
    prediction = {
        "xways": args.xways,
        "workers": workers,
        "cores": cores,
        "holds": holds,
        "worker_s": {str(cast.rate): round(cast.worker_s, 4) for cast in casts},
        "clock": args.clock,
        "memory_gb": round(worst.memory_bytes / 1e9, 2),
        "limits": bounds,
        "breaks_first": min(bounds, key=lambda name: bounds[name]),
        "boxes": {name: round(seconds, 6) for name, seconds in heaviest},
    }
    print(json.dumps(prediction) if args.json else _words(prediction, memory / 1e9, HEADROOM))
    return 0 if holds else FAIL_STATUS


def _loads(args: argparse.Namespace) -> list[Load]:
    from polling_baseline.engines.aurora.inspect.forecast import PEAK_RATES, Load

    if args.quick and not args.dataset:
        raise Refusal("--quick means the last 20 minutes of a road: name it with --dataset")
    if args.dataset:
        return [Load(*_road_of(args.dataset, args.quick), args.clock)]
    return [Load(rate, distinct=args.distinct, clock=args.clock) for rate in PEAK_RATES]


def _road_of(path: Path, quick: bool) -> tuple[float, float, float]:
    """Of an expressway of a data set, or of its last minutes: reports per second in the busiest minute, and vehicles.
    And how many expressways there are.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from driver.dataset.folder import open_dataset, read_minutes
    from driver.dataset.integrity import check_files
    from driver.rating.rating import QUICK_MINUTES
    from polling_baseline import spec

    dataset = open_dataset(path)
    check_files(dataset)
    last = dataset.seconds // spec.MINUTE_S
    minutes, seen = Counter[int](), []
    for file in set(dataset.traffic.values()):
        for minute, table in read_minutes(file, last - QUICK_MINUTES + 1 if quick else 1, last):
            reports = table.filter(pc.equal(table["kind"], spec.REPORT))
            minutes[minute] += len(reports)
            seen.append(pc.unique(reports["vehicle_id"]))
    if not minutes.total():
        raise Refusal(f"{path} has no traffic to go by")
    vehicles = len(pc.unique(pa.concat_arrays(seen)))
    rate = round(max(minutes.values()) / spec.MINUTE_S / dataset.xways, 1)
    return rate, vehicles / dataset.xways, dataset.xways


def _words(prediction: dict[str, Any], memory_gb: float, headroom: float) -> str:
    seconds = " to ".join(f"{seconds:.3f}" for seconds in prediction["worker_s"].values())
    rates = " to ".join(f"{float(rate):,.0f}" for rate in prediction["worker_s"])
    total = sum(prediction["boxes"].values())
    heaviest = list(prediction["boxes"].items())[:4]
    bounds = (f"{name} {'' if most < 1000 else 'over '}{most:g}" for name, most in prediction["limits"].items())
    first = prediction["breaks_first"]
    which = f"; its heaviest box is {heaviest[0][0]}" if first != "memory" else ""
    return "\n".join(
        [
            *fold_parts(
                "aurora   ",
                [
                    f"L = {prediction['xways']:g}",
                    f"{rates} reports/s per expressway",
                    format_count(prediction["workers"], "worker"),
                    format_count(prediction["cores"], "core"),
                    "HOLDS" if prediction["holds"] else "DOES NOT HOLD",
                ],
            ),
            f"worker   needs {seconds} s per second of input; the limit is {headroom:g} s",
            f"memory   needs {prediction['memory_gb']:.1f} GB on the {prediction['clock']} clock "
            f"with 69 days of history; the limit is {headroom * memory_gb:.1f} GB",
            *fold_parts("boxes    ", (f"{name} {seconds / total:.0%}" for name, seconds in heaviest)),
            *fold_parts("largest L by   ", bounds),
            f"first to give way: {first}{which}",
        ]
    )


def _network_of(run: Path) -> dict[str, Any]:
    from driver.run.record import read_run

    read_run(run)
    try:
        network: dict[str, Any] = json.loads((run / "network.json").read_text())
    except FileNotFoundError:
        raise Refusal(f"{run} is no run of engine aurora; make one with lrb run --engine aurora") from None
    except ValueError:
        raise Refusal(f"{run}/network.json is damaged; run it again") from None
    return network


def _untouched() -> dict[str, Any]:
    """The network as it is built, before anything has passed it."""
    from polling_baseline.engines.aurora.inspect.network_data import network_facts
    from polling_baseline.engines.aurora.linear_road.history import EMPTY
    from polling_baseline.engines.aurora.node import Node, Options

    return network_facts(Node(EMPTY, True, Options()))
