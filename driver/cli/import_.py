"""`lrb import`"""

from __future__ import annotations

import argparse
from pathlib import Path

from driver.cli import log, parse_length
from polling_baseline.wording import format_command, format_count

SUMMARY = "Make a data set from classical flat files: 15 integers a line, each file sorted by time."
EXAMPLES = """
  lrb import cardatapoints.out.gz --out road1
      one file, plain or gzip; lines that the specification does not allow go to road1/rejects.csv
  lrb import xway-*.csv --toll-history toll-history.csv --segment-history segment-history.csv --out road2
      several files are merged by time; the history may be CSV or Parquet
  lrb import cardatapoints.out --out road1 --strict
      no data set if a single line is wrong
  ssh elsewhere cat cardatapoints.out.gz | lrb import - --out road1
      from another program, plain or gzip
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", metavar="FILE", nargs="+", type=_file, help="flat files, plain or gzip; - reads from stdin"
    )
    parser.add_argument("--toll-history", metavar="F", type=Path, help="VID,Day,XWay,Tolls; CSV or Parquet")
    parser.add_argument(
        "--segment-history", metavar="F", type=Path, help="Day,Min,XWay,Dir,Seg,Lav,Cnt,Toll; CSV or Parquet"
    )
    parser.add_argument("--out", metavar="DATASET", type=Path, required=True, help="the folder to write")
    parser.add_argument(
        "--xways",
        metavar="L",
        type=parse_length,
        help="number of expressways, in steps of 0.5; XWay beyond is rejected [as the file has]",
    )
    parser.add_argument("--strict", action="store_true", help="refuse everything if one line is wrong")
    parser.add_argument("--force", action="store_true", help="replace DATASET if it exists")
    parser.add_argument(
        "--master", metavar="URL", default="local[*]", help="Spark's master, for the history files [local[*]]"
    )


def _file(text: str) -> Path:
    """Only `-` itself is stdin: `./-` is a file, though a Path forgets the difference."""
    path = Path(text)
    return path.absolute() if str(path) == "-" != text else path


def run(args: argparse.Namespace) -> int:
    from driver.dataset.folder import open_dataset
    from driver.dataset.import_ import ImportOptions, import_dataset
    from driver.history.import_ import history_importer

    options = ImportOptions(
        files=args.files,
        toll_history=args.toll_history,
        segment_history=args.segment_history,
        xways=args.xways,
        strict=args.strict,
    )
    for warning in import_dataset(options, args.out, args.force, history_importer(options, args.master)):
        log.warning(warning)
    dataset = open_dataset(args.out)
    counts, by_reason = dataset.counts, dataset.options["rejects_by_reason"]
    accepted = sum(counts[kind] for kind in ("reports", "balance", "expenditure", "travel_time"))
    print(
        f"{args.out}: L = {dataset.xways:g}, {dataset.seconds // 60} min, {format_count(counts['vehicles'], 'vehicle')}"
    )
    reports, requests = format_count(counts["reports"], "report"), format_count(accepted - counts["reports"], "request")
    print(f"  accepted  {format_count(accepted, 'line', 12)}: {reports}, {requests}")
    if history := counts["toll_history"] + counts["segment_history"]:
        print(f"  history   {format_count(history, 'row', 12)}")
    print(f"  rejected  {counts['rejects']:>12,}" + (f", see {args.out / 'rejects.csv'}" if counts["rejects"] else ""))
    assert isinstance(by_reason, dict)
    for reason, count in by_reason.items():
        print(f"            {count:>12,} {reason}")
    print(f"next: {format_command('show', args.out)}")
    return 0
