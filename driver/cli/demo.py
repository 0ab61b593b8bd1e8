"""`lrb demo`: the whole kit in three minutes, at light load and at a heavy one."""

from __future__ import annotations

import argparse
from pathlib import Path

from driver.cli import FAIL_STATUS
from polling_baseline.wording import format_command

SUMMARY = (
    "From nothing to all engines side by side, on a quiet road and on a crowded one, each step as you would type it."
)
EXAMPLES = """\
  lrb demo                                     some minutes of one expressway, then the last one of many; in demo/
  lrb demo --out /tmp/road --xways 200         elsewhere, and with more of them
"""
MINUTES = 40
LIGHT_MINUTES = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=Path("demo"), metavar="DIR", help="where everything goes [demo]")
    parser.add_argument("--minutes", type=int, default=MINUTES, metavar="N", help="length of the road [%(default)s]")
    parser.add_argument("--xways", type=int, default=60, metavar="L", help="expressways of the crowd [%(default)s]")


def free_name(folder: Path, name: str) -> Path:
    """A run is never overwritten: each demo adds its comparisons."""
    return next(path for number in range(1, 10_000) if not (path := folder / f"{name}-{number}").exists())


def run(args: argparse.Namespace) -> int:
    from driver.cli import main

    road, light, crowd = args.out / "road", free_name(args.out, "light"), free_name(args.out, "crowd")
    until = min(LIGHT_MINUTES, args.minutes)
    compare = ["compare", road, "--clock", "virtual"]
    most, last = args.xways, args.minutes
    for what, step in (
        (
            "A road, from a seed.",
            ["generate", "--xways", 1, "--minutes", last, "--history-days", 7, "--out", road, "--force"],
        ),
        ("What is on it.", ["show", road, "--html", args.out / "road.html"]),
        ("Its history, into PostgreSQL.", ["load", road]),
        ("Light load: everybody is idle.", [*compare, "--to-minute", until, "--out", light]),
        (
            f"A crowd: the last minute, {most} times over.",
            [*compare, "--xways", most, "--from-minute", last, "--stop-when-late", "--out", crowd],
        ),
    ):
        words = [str(word) for word in step]
        print(f"\n{what}\n$ {format_command(*words)}", flush=True)
        # That an engine fails under the crowd is what there is to see.
        if (status := main(words)) not in (0, FAIL_STATUS):
            return status
    print(f"\nOpen {crowd / 'compare.html'} in a browser: the engines side by side under the crowd,")
    print(f"     {light / 'compare.html'}: the same at light load,")
    print(f"     {args.out / 'road.html'}: the traffic they were given.")
    return 0
