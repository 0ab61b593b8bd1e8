"""`lrb load`: a data set's history into PostgreSQL."""

from __future__ import annotations

import argparse
import time
from contextlib import closing
from pathlib import Path

from driver.cli import add_server_arguments
from polling_baseline.database.claim import claim_database
from polling_baseline.database.connection import find_target
from polling_baseline.wording import format_count

SUMMARY = "Load the history of a data set into PostgreSQL; what was there stays until the new one is complete."
EXAMPLES = """\
  lrb load road1                                      into the embedded server, which is started if need be
  lrb load --dsn postgresql://me@db.example/lr road1  into another; the password from PGPASSWORD
  lrb load --database road1 road1                     into a database of its own, for runs side by side
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", metavar="DATASET", type=Path, help="a folder made by lrb generate or lrb import")
    add_server_arguments(parser)
    parser.add_argument("--master", metavar="URL", default="local[*]", help="where Spark runs [%(default)s]")


def run(args: argparse.Namespace) -> int:
    from driver.dataset.folder import open_dataset
    from driver.dataset.integrity import check_files
    from driver.history.load import load_history
    from driver.progress import progress
    from driver.spark.session import session

    dataset, target = open_dataset(args.dataset), find_target(args.dsn, database=args.database)
    with closing(claim_database(target, f"load {dataset.name}")) as claim:
        # Before Spark takes its seconds to start, see that the history is as it was made.
        check_files(dataset)
        spark = session(args.master)
        started_at = time.monotonic()
        with progress("load", max(len(dataset.toll_history) + len(dataset.segment_history), 1)) as advance:
            loaded = load_history(spark, dataset, claim, advance)
        database = claim.record()["database"]
        seconds = time.monotonic() - started_at
    print(f"loaded     {dataset.path} into {target.label}, database {database}, schema lr_history, {seconds:.1f} s")
    print(f"tolls      {format_count(loaded.tolls, 'row')} in toll_history")
    rows = format_count(dataset.counts["segment_history"], "row")
    print(f"segments   {rows} of history in {loaded.averages:,} of segment_average")
    return 0
