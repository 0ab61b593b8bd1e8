"""`lrb feed`: the paced input on standard output."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from driver.cli.engine_arguments import PART_ARGUMENTS
from driver.dataset.ignore import REQUESTS, parse_kinds
from polling_baseline.refusal import Refusal

SUMMARY = "Write a data set's input to standard output, each second when it comes, for pipes of your own."
EXAMPLES = """\
  lrb feed road1 | ./my_system > output.csv        in real time, as the classical lines of 15 integers
  lrb feed road1 --speed 60 --marks | ./my_system  an hour in a minute, with a line "mark T" after each second T
  lrb feed road1 --speed max > road1.csv           as fast as it can be written
  lrb feed road1 --xways 100 --from-minute 161     100 expressways, copies of those in road1, in the last 20 minutes

A system that is driven like this is not measured; lrb run --engine exec does that.
"""
NO_PACE = "max"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", metavar="DATASET", type=Path)
    parser.add_argument(
        "--speed", metavar="X", default="1", help=f"seconds of input per second, or {NO_PACE} for no pace at all [1]"
    )
    parser.add_argument("--marks", action="store_true", help='a line "mark T" after the last line of each second T')
    parser.add_argument("--ignore", metavar="KIND,...", help=f"requests that are left out: {', '.join(REQUESTS)}")
    for option in ("--xways", "--from-minute", "--to-minute"):
        parser.add_argument(option, **PART_ARGUMENTS[option])


def run(args: argparse.Namespace) -> int:
    from driver.run.config import configure
    from driver.run.paced_lines import write_paced

    speed = _speed(args.speed)
    config = configure(
        dataset=str(args.dataset.absolute()),
        xways=args.xways,
        from_minute=args.from_minute,
        to_minute=args.to_minute,
        ignore=None if args.ignore is None else parse_kinds(args.ignore),
    )
    write_paced(config.open_dataset(), config.seconds, speed, args.marks, sys.stdout.buffer)
    return 0


def _speed(text: str) -> float | None:
    """Seconds of input per second; None for no pace at all."""
    if text == NO_PACE:
        return None
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed < float("inf"):
        raise Refusal(f"--speed must be a number above 0, or {NO_PACE}, not {text}")
    return speed
