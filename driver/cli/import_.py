"""`lrb import`"""

from __future__ import annotations

import argparse
from pathlib import Path

SUMMARY = "Make a data set from classical flat files: 15 integers a line, each file sorted by time."
EXAMPLES = """
  lrb import cardatapoints.out.gz --out road1
      one file, plain or gzip; lines that the specification does not allow go to road1/rejects.csv
  lrb import xway-*.csv --toll-history toll-history.csv --segment-history segment-history.csv --out road2
      several files are merged by time; the history may be CSV or Parquet
  lrb import cardatapoints.out --out road1 --strict
      no data set if a single line is wrong
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="flat files, plain or gzip")
    parser.add_argument("--toll-history", metavar="F", type=Path, help="VID,Day,XWay,Tolls; CSV or Parquet")
    parser.add_argument(
        "--segment-history", metavar="F", type=Path, help="Day,Min,XWay,Dir,Seg,Lav,Cnt,Toll; CSV or Parquet"
    )
    parser.add_argument("--out", metavar="DATASET", type=Path, required=True, help="the folder to write")
    parser.add_argument(
        "--xways", metavar="L", help="number of expressways, in steps of 0.5; XWay beyond is rejected [as the file has]"
    )
    parser.add_argument("--strict", action="store_true", help="refuse everything if one line is wrong")
    parser.add_argument("--force", action="store_true", help="replace DATASET if it exists")
    parser.add_argument(
        "--master", metavar="URL", default="local[*]", help="Spark's master, for the history files [local[*]]"
    )


def run(args: argparse.Namespace) -> int:
    from driver.dataset import open_dataset
    from driver.importer import Wanted, import_dataset, length_given

    wanted = Wanted(
        files=args.files,
        toll_history=args.toll_history,
        segment_history=args.segment_history,
        xways=length_given(args.xways) if args.xways is not None else None,
        strict=args.strict,
        master=args.master,
    )
    import_dataset(wanted, args.out, args.force)
    dataset = open_dataset(args.out)
    counts, by_reason = dataset.counts, dataset.options["rejects_by_reason"]
    accepted = sum(counts[kind] for kind in ("reports", "balance", "expenditure", "travel_time"))
    print(f"{args.out}: L = {dataset.xways:g}, {dataset.seconds // 60} min, {counts['vehicles']:,} vehicles")
    print(
        f"  accepted  {accepted:>12,} lines: {counts['reports']:,} reports, {accepted - counts['reports']:,} requests"
    )
    if history := counts["toll_history"] + counts["segment_history"]:
        print(f"  history   {history:>12,} rows")
    print(f"  rejected  {counts['rejects']:>12,}" + (f", see {args.out / 'rejects.csv'}" if counts["rejects"] else ""))
    assert isinstance(by_reason, dict)
    for reason, count in by_reason.items():
        print(f"            {count:>12,} {reason}")
    print(f"next: lrb show {args.out}")
    return 0
