"""`lrb watch`: runs on one time line, in a browser."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from driver.cli.beside import end_beside, start_beside, wait_for_run
from driver.report.watch import XWAYS_SHOWN

SUMMARY = "Watch runs of one road side by side in a browser: recorded ones, or one that is under way."
EXAMPLES = """\
  lrb watch runs/0007-polling-L1                         the road, and how far the engine's answers have come
  lrb watch runs/0007-polling-L1 runs/0008-aurora-L1     two engines on one time line
  lrb watch runs/0007-* runs/0008-* --html race.html     the same as one file, to be mailed or shown without a server
  lrb run --watch road1                                  beside a run, while it goes on

Space plays and pauses, the arrow keys go 10 s on or back (with Shift a minute), + and - change the speed.  Engines are
never run side by side for this: they would take the processors from each other.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="a folder made by lrb run")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write the page as one file instead")
    parser.add_argument(
        "--xways", metavar="X,...", help=f"the expressways to show [the first {XWAYS_SHOWN} of the run]"
    )
    parser.add_argument("--dataset", metavar="DATASET", type=Path, help="where the data set of the runs is now")
    parser.add_argument("--port", metavar="N", type=int, default=0, help="port of the page [any that is free]")
    parser.add_argument("--no-browser", action="store_true", help="print the address and open nothing")
    # The process that this one ends with, which makes the run.
    parser.add_argument("--beside", type=int, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    from driver.report.watch.opening import open_broadcast

    if args.beside and not wait_for_run(args.runs[0], args.beside):
        return 0
    broadcast = open_broadcast(args.runs, args.dataset, args.xways)
    if args.html:
        from driver.report.html.file import write_page
        from driver.report.watch.page import one_file

        write_page(args.html, one_file(broadcast))
        print(args.html)
        return 0
    from driver.report.watch.server import follow, serving

    stopping = threading.Event()
    with serving(broadcast, args.port) as address:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopping.set())
        if args.beside:
            # Standard output belongs to the run.
            print(f"lrb: watch the run at {address}", file=sys.stderr, flush=True)
        else:
            print(f"{address}   Ctrl-C ends it", flush=True)
        if not args.no_browser:
            _open(address)
        follow(broadcast, stopping, args.beside)
    return 0


def _open(address: str) -> None:
    """In a browser with windows, if this machine has a screen; never in one that takes the terminal."""
    import webbrowser

    has_screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if has_screen:
        webbrowser.open(address)


@contextmanager
def watching(folder: Path) -> Iterator[None]:
    """The page of a run that is about to begin, which ends with it."""
    process = start_beside(["watch", folder])
    try:
        yield
    finally:
        end_beside(process)
