"""`lrb generate`: a data set from a seed."""

from __future__ import annotations

import argparse
import signal
import time
from pathlib import Path
from types import FrameType

from driver.cli import parse_length
from polling_baseline.wording import format_command, format_count

SUMMARY = "Generate traffic and history of L expressways from a seed; the same seed gives the same bytes."
EXAMPLES = """\
  lrb generate --xways 1 --out road1                                  three hours of one expressway, 69 days of history
  lrb generate --xways 0.5 --minutes 10 --history-days 7 --out small  one direction, to try things out
  lrb generate --xways 1 --seed 7 --force --out road1                 other traffic in its place
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--xways", metavar="L", type=parse_length, required=True, help="number of expressways, in steps of 0.5"
    )
    parser.add_argument("--out", metavar="DATASET", type=Path, required=True, help="the folder to write")
    parser.add_argument("--minutes", metavar="N", type=int, default=180, help="length of the traffic [%(default)s]")
    parser.add_argument("--seed", metavar="N", type=int, default=42, help="what chance depends on [%(default)s]")
    parser.add_argument(
        "--history-days", metavar="N", type=int, default=69, help="days of history, 0 for none [%(default)s]"
    )
    parser.add_argument(
        "--exit-reports",
        choices=("most", "all"),
        default="most",
        help="trips that end with a report from the exit lane: 85 %% as in recorded data, or all as in the paper",
    )
    parser.add_argument("--master", metavar="URL", default="local[*]", help="where Spark runs [%(default)s]")
    parser.add_argument("--force", action="store_true", help="replace DATASET if it exists")


def run(args: argparse.Namespace) -> int:
    signal.signal(signal.SIGTERM, _interrupt)
    started_at = time.monotonic()
    from driver.dataset.folder import open_dataset
    from driver.generate.generate import GenerateOptions, generate

    wanted = GenerateOptions(args.xways, args.minutes, args.seed, args.history_days, args.exit_reports)
    generate(wanted, args.out, args.force, args.master)
    dataset = open_dataset(args.out)
    counts = dataset.counts
    requests = counts["balance"] + counts["expenditure"] + counts["travel_time"]
    size = sum(info["bytes"] for info in dataset.files.values())
    print(f"{args.out}: L = {dataset.xways:g}, {args.minutes} min, seed {args.seed}")
    numbers = [format_count(counts["reports"], "report", 12), format_count(requests, "request")]
    print("  traffic   " + ", ".join([*numbers, format_count(counts["vehicles"], "vehicle")]))
    tolls = format_count(counts["toll_history"], "row", 12)
    print(f"  history   {tolls} of tolls, {counts['segment_history']:,} of segments")
    print(f"  written   {size / 1e6:>12,.1f} MB in {time.monotonic() - started_at:.0f} s")
    print(f"next: {format_command('show', args.out)}\n  or: {format_command('load', args.out)}")
    return 0


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """A polite request to stop is treated as Ctrl-C is: what was begun is cleaned up."""
    raise KeyboardInterrupt
