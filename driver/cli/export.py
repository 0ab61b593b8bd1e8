"""`lrb export`"""

from __future__ import annotations

import argparse
from pathlib import Path

SUMMARY = "Write a data set as classical flat files, one per expressway, with its history as CSV."
EXAMPLES = """
  lrb export road1 --out flat
      flat/xway-000.csv, ...; flat/toll-history.csv and flat/segment-history.csv if there is history
  lrb export road1 --out flat --gzip --force
      the same as .csv.gz, in place of an earlier export
  lrb import flat/xway-*.csv --toll-history flat/toll-history.csv --out road2
      and back again: the same data set
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", metavar="DATASET", type=Path)
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="the folder to write")
    parser.add_argument("--gzip", action="store_true", help="compress the files")
    parser.add_argument("--force", action="store_true", help="replace an earlier export")


def run(args: argparse.Namespace) -> int:
    from driver.dataset.export import export
    from driver.dataset.folder import open_dataset
    from driver.dataset.integrity import check_files

    dataset = open_dataset(args.dataset)
    check_files(dataset)
    for path in export(dataset, args.out, args.gzip, args.force):
        print(f"{path}  {path.stat().st_size:,} bytes")
    return 0
