"""`lrb demo`: the whole kit in three minutes, at light load and at a heavy one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
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
# Where no engine falls behind, the crowd grows by this, once.
GROWTH = 3
# That an engine fails under the crowd is what there is to see.
COMPLETE = (0, FAIL_STATUS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=Path("demo"), metavar="DIR", help="where everything goes [demo]")
    parser.add_argument("--minutes", type=int, default=MINUTES, metavar="N", help="length of the road [%(default)s]")
    parser.add_argument(
        "--xways",
        type=int,
        default=60,
        metavar="L",
        help="expressways of the crowd; three times as many if all engines hold them [%(default)s]",
    )


def free_name(folder: Path, name: str) -> Path:
    """A run is never overwritten: each demo adds its comparisons."""
    return next(path for number in range(1, 10_000) if not (path := folder / f"{name}-{number}").exists())


def run(args: argparse.Namespace) -> int:
    road, light = args.out / "road", free_name(args.out, "light")
    until = min(LIGHT_MINUTES, args.minutes)
    compare = ["compare", road, "--clock", "virtual"]
    for what, step in (
        (
            "A road, from a seed.",
            ["generate", "--xways", 1, "--minutes", args.minutes, "--history-days", 7, "--out", road, "--force"],
        ),
        ("What is on it.", ["show", road, "--html", args.out / "road.html"]),
        ("Its history, into PostgreSQL.", ["load", road]),
        ("Light load: everybody is idle.", [*compare, "--to-minute", until, "--out", light]),
    ):
        if (status := _type(what, step)) not in COMPLETE:
            return status

    what = "A crowd: the last minute, {} times over."
    for xways in (args.xways, GROWTH * args.xways):
        crowd = free_name(args.out, "crowd")
        of_crowd = ["--xways", xways, "--from-minute", args.minutes, "--stop-when-late", "--out", crowd]
        if (status := _type(what.format(xways), [*compare, *of_crowd])) not in COMPLETE:
            return status
        if status == FAIL_STATUS:
            break
        what = "Nobody fell behind. A larger crowd: the last minute, {} times over."
    print(f"\nOpen {crowd / 'compare.html'} in a browser: the engines side by side under the crowd,")
    print(f"     {light / 'compare.html'}: the same at light load,")
    print(f"     {args.out / 'road.html'}: the traffic they were given.")
    return 0


def _type(what: str, step: Sequence[object]) -> int:
    """Show a command, and do it."""
    from driver.cli import main

    words = [str(word) for word in step]
    print(f"\n{what}\n$ {format_command(*words)}", flush=True)
    return main(words)
