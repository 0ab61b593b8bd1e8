"""`lrb expected`: the reference's own answers."""

from __future__ import annotations

import argparse
from pathlib import Path

from driver.cli.part import add_part_arguments, part_from, xways_from
from polling_baseline.files import refuse_what_is_no_text

SUMMARY = "Write the right answers to a data set, as a system without any delay would give them."
EXAMPLES = """\
  lrb expected road1 --out right.csv                     the output file, Emit = Time; balances as of the request,
                                                         all other right ones in right.balances.csv
  lrb expected road1 --out right.csv --tables why        and the statistics, accidents and assessments as Parquet
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", metavar="DATASET", type=Path, help="a folder made by lrb generate or lrb import")
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the output file to write")
    parser.add_argument("--tables", metavar="DIR", type=Path, help="write what the answers rest on, as Parquet")
    add_part_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from driver.dataset.folder import open_dataset
    from driver.dataset.integrity import check_files
    from driver.validate.answers import write_answers, write_balances, write_tables
    from driver.validate.judge import quiet_session
    from driver.validate.reference.right_answers import right_answers

    dataset = open_dataset(args.dataset)
    for path in filter(None, (args.out, args.tables)):
        refuse_what_is_no_text(path)
    xways = xways_from(args, dataset)
    dataset, seconds = part_from(args, dataset)
    check_files(dataset)
    balances = args.out.with_suffix(".balances.csv")
    with right_answers(quiet_session(args.master), dataset, seconds) as right:
        write_answers(right, xways, args.out)
        write_balances(right, xways, balances)
        if args.tables:
            write_tables(right, args.tables)
    print(f"{args.out}  {balances}" + (f"  {args.tables}" if args.tables else ""))
    return 0
