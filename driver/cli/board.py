"""`lrb board`: results of many as one page."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

SUMMARY = (
    "Make a board of results: one page with filters, from bundles and from folders of runs, ratings and comparisons."
)
EXAMPLES = """\
  lrb board ratings runs --html board.html         all results of this machine
  lrb board bundles --html board.html              those that others have sent
  lrb board bundles --json | jq '.results[0]'

Only what is judged enters: every answer present once, right, and in time by the specification's limits.  A bundle that
was changed, or a record that contradicts another, does not enter; the page says what was left out, and why.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", metavar="FOLDER | BUNDLE", type=Path, nargs="+", help="where to look, at any depth")
    parser.add_argument("--html", metavar="FILE", type=Path, help="where the page goes [board.html]")
    parser.add_argument("--json", action="store_true", help="print JSON instead; a page only with --html")


def run(args: argparse.Namespace) -> int:
    from driver.publish.board_page import board_page
    from driver.publish.results import results_in
    from driver.report.html.file import write_page

    results, left_out = results_in(args.folders)
    page = args.html or (None if args.json else Path("board.html"))
    if page:
        write_page(page, board_page(results, left_out))
    if args.json:
        print(json.dumps({"results": [asdict(one) for one in results], "left_out": [asdict(one) for one in left_out]}))
        return 0
    for number, one in enumerate(results, 1):
        print(f"{number:>3}  L = {one.xways:<6g} {one.label:<24} {one.span:<6} {one.clock:<8} {one.machine}")
    for other in left_out:
        print(f"board: left out {other.source}: {other.why}", file=sys.stderr)
    print(f"saved  {page}   {len(results)} results, {len(left_out)} left out")
    return 0
