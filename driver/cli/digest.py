"""`lrb digest`: what an output must add up to."""

from __future__ import annotations

import argparse
from pathlib import Path

from driver.cli import parse_length
from driver.cli.part import add_span_arguments, part_from

SUMMARY = (
    "Print how many answers a data set must get in each minute, and a fingerprint of them that anyone can compute."
)
EXAMPLES = """\
  lrb digest road1 > road1.digest          kind, minute, answers, fingerprint
  python3 docs/examples/digest.py answers.csv | diff - road1.digest
                                           an output is right if nothing differs; no Spark, no kit
  lrb digest road1 --xways 10 --ignore travel_time

The digest of a seed is the same on every machine: docs/digests.md defines it, and has those of seed 42.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", metavar="DATASET", type=Path, help="a folder made by lrb generate or lrb import")
    parser.add_argument("--xways", type=parse_length, metavar="L", help="as so many expressways [as in DATASET]")
    add_span_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from driver.dataset.folder import open_dataset
    from driver.dataset.integrity import check_files
    from driver.dataset.relabel import relabelled
    from driver.validate.digest import digest_lines
    from driver.validate.judge import quiet_session

    dataset, seconds = part_from(args, relabelled(open_dataset(args.dataset), args.xways))
    check_files(dataset)
    for line in digest_lines(quiet_session(args.master), dataset, seconds):
        print(line)
    return 0
