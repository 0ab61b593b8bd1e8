"""`lrb show`"""

from __future__ import annotations

import argparse
from pathlib import Path

SUMMARY = "Say what is in a data set: counts, accidents, tuples per second, rejects."
EXAMPLES = """
  lrb show road1
      numbers, and a small chart of the tuples per second
  lrb show road1 --html road1.html
      a page with the same and with maps of the speed by minute and segment, in which jams show
  lrb show road1 --json | jq .peak
      the same numbers for another program
  lrb show road1 --check
      nothing but whether each file still has the checksum that dataset.json names
"""
MAPS = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", metavar="DATASET", type=Path)
    parser.add_argument("--html", metavar="FILE", type=Path, help="write a page instead")
    parser.add_argument("--xways", metavar="X,...", help=f"expressways whose speed the page shows [the first {MAPS}]")
    parser.add_argument("--json", action="store_true", help="print JSON instead")
    parser.add_argument("--check", action="store_true", help="only see whether each file is still as it was made")


def run(args: argparse.Namespace) -> int:
    import json

    from driver.dataset.dataset_stats import survey
    from driver.dataset.expressways import parse_numbers
    from driver.dataset.folder import open_dataset
    from driver.dataset.integrity import check_files
    from driver.progress import progress
    from driver.report.dataset import as_json, as_text

    dataset = open_dataset(args.dataset)
    check_files(dataset)
    if args.check:
        print(f"{args.dataset}: {len(dataset.counted_files)} files, each as it was made")
        return 0
    known = list(dataset.traffic)
    chosen = known[:MAPS] if args.xways is None else parse_numbers(args.xways, known, "the data set")
    rows = sum(dataset.counts[kind] for kind in ("reports", "balance", "expenditure", "travel_time"))
    with progress("show", max(rows, 1)) as advance:
        traffic_survey = survey(dataset, advance)
    if args.html:
        from driver.report.html.dataset import dataset_page
        from driver.report.html.file import write_page

        write_page(args.html, dataset_page(dataset, traffic_survey, chosen))
    if args.json:
        print(json.dumps(as_json(dataset, traffic_survey)))
    elif args.html:
        print(args.html)
    else:
        print("\n".join(as_text(dataset, traffic_survey)))
    return 0
