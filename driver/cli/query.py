"""`lrb query`: a question that nobody planned, to the database of a run."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Sequence
from decimal import Decimal

from driver.cli import add_server_arguments, log
from polling_baseline.refusal import Refusal

SUMMARY = "Ask PostgreSQL a question of your own, also beside a run: read-only, and with a limit on the time it takes."
EXAMPLES = """\
  lrb query 'SELECT count(*), sum(balance) FROM lr.vehicle'
                                               how many vehicles there were, and what ended trips have paid
  lrb query --csv 'SELECT minute, max(cars) FROM lr.segment_minute GROUP BY minute ORDER BY minute' > cars.csv
                                               the fullest segment of each minute, as CSV
  lrb query --timeout 0.2 'SELECT max(toll) FROM lr.segment_toll'
                                               give up soon: a run wants these tables back
  lrb aurora query --help                      the same for the stream engine

Schema lr has the state of the run under way, or of the last one; lr_history has ten weeks of history.
A run clears tables each second, and waits for whoever reads them: a slow query makes answers late.
"""
SHOWN_ROWS = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sql", metavar="SQL", help="the question, a SELECT as a rule")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="print all rows as CSV instead of a table")
    form.add_argument("--json", action="store_true", help="print all rows as JSON, a list of objects")
    parser.add_argument(
        "--timeout", type=float, default=5.0, metavar="S", help="stop the query after so many seconds [%(default)g]"
    )
    add_server_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from polling_baseline.database.connection import find_target
    from polling_baseline.database.reader import ask

    if not 0.001 <= args.timeout <= 86_400:
        raise Refusal(f"--timeout must be 0.001 to 86400 seconds, not {args.timeout:g}")
    every = args.csv or args.json
    target = find_target(args.dsn, database=args.database)
    answer = ask(target, args.sql, args.timeout, None if every else SHOWN_ROWS)
    if args.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(answer.columns)
        writer.writerows(answer.rows)
    elif args.json:
        rows = [dict(zip(answer.columns, map(_plain, row), strict=True)) for row in answer.rows]
        print(json.dumps(rows, default=str))
    elif answer.columns:
        print("\n".join(table(answer.columns, answer.rows)))
    if answer.cut:
        log.info("there are more rows; --csv or --json prints all")
    return 0


def _plain(value: object) -> object:
    """A number as JSON has it; what JSON does not know becomes text."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Text to the left, numbers to the right."""
    cells = [["" if value is None else str(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    numbers = [
        bool(rows) and all(isinstance(row[place], int | float | Decimal | None) for row in rows)
        for place in range(len(columns))
    ]

    def line(texts: Sequence[str]) -> str:
        parts = zip(texts, widths, numbers, strict=True)
        return "   ".join(text.rjust(width) if number else text.ljust(width) for text, width, number in parts).rstrip()

    return [line(columns), "   ".join("-" * width for width in widths), *map(line, cells)]
