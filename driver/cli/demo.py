"""`lrb demo`: the whole kit on a small road."""

from __future__ import annotations

import argparse
from pathlib import Path

from polling_baseline.wording import format_command

SUMMARY = "From nothing to all engines side by side on a small road, each step as you would type it."
EXAMPLES = """\
  lrb demo                                     half an expressway, 20 minutes, a week of history, in the folder demo/
  lrb demo --out /tmp/road --minutes 60        elsewhere, and longer
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=Path("demo"), metavar="DIR", help="where everything goes [demo]")
    parser.add_argument("--minutes", type=int, default=20, metavar="N", help="length of the runs [20]")


def free_name(folder: Path) -> Path:
    """A run is never overwritten: each demo adds a comparison."""
    return next(path for number in range(1, 10_000) if not (path := folder / f"compare-{number}").exists())


def run(args: argparse.Namespace) -> int:
    from driver.cli import main

    road, compared = args.out / "road", free_name(args.out)
    for step in (
        ["generate", "--xways", "0.5", "--minutes", args.minutes, "--history-days", "7", "--out", road, "--force"],
        ["show", road, "--html", args.out / "road.html"],
        ["load", road],
        ["compare", road, "--clock", "virtual", "--out", compared],
    ):
        words = [str(word) for word in step]
        print(f"\n$ {format_command(*words)}", flush=True)
        if status := main(words):
            return status
    print(f"\nOpen {compared / 'compare.html'} in a browser: the engines side by side.")
    print(f"     {args.out / 'road.html'}: the traffic they were given.")
    return 0
