"""Which part of a data set is judged: expressways, minutes and kinds of requests."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from driver.dataset.expressways import parse_numbers
from polling_baseline import spec
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from driver.dataset.folder import Dataset


def add_part_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--xways", metavar="X,...", help="judge these expressways only [all]")
    add_span_arguments(parser)


def add_span_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from-minute", type=int, metavar="A", help="as if the input began with minute A [1]")
    parser.add_argument("--to-minute", type=int, metavar="B", help="as if it ended with minute B [the last]")
    parser.add_argument("--ignore", metavar="KIND,...", help="expect no answers to these requests [none]")
    parser.add_argument("--master", metavar="URL", default="local[*]", help="where Spark runs [%(default)s]")


def part_from(args: argparse.Namespace, dataset: Dataset) -> tuple[Dataset, range]:
    """The requests and the seconds that the arguments name."""
    from driver.dataset.ignore import parse_kinds, without_requests

    if not dataset.traffic:
        raise Refusal(f"{dataset.path} has no traffic to judge by")
    minutes = dataset.seconds // spec.MINUTE_S
    first, last = args.from_minute or 1, args.to_minute or minutes
    if not 1 <= first <= last <= minutes:
        raise Refusal(f"minutes {first} to {last} are not in {dataset.path}: it has 1 to {minutes}")
    seconds = range((first - 1) * spec.MINUTE_S, last * spec.MINUTE_S)
    return without_requests(dataset, parse_kinds(args.ignore) if args.ignore else ()), seconds


def xways_from(args: argparse.Namespace, dataset: Dataset) -> tuple[int, ...] | None:
    if args.xways is None:
        return None
    return tuple(sorted(parse_numbers(args.xways, list(dataset.traffic), str(dataset.path))))
