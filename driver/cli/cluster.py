"""`lrb cluster`: a small Spark cluster on this machine."""

from __future__ import annotations

import argparse

from driver.cli import Help
from polling_baseline.refusal import Refusal
from polling_baseline.wording import format_count

SUMMARY = "Start, stop or inspect a Spark cluster on this machine: a master and workers on loopback, with a secret."
EXAMPLES = """\
  lrb cluster start --workers 2           and the address to give to --master
  lrb validate road1 runs/0007-polling-L1 --master spark://127.0.0.1:40123
                                          so do generate, import and load; the secret is found by itself
  lrb run road1 --engine structured_streaming --master spark://127.0.0.1:40123
                                          the stream engine, a shard on each core
  lrb cluster status                      exit status 1 if it does not run
  lrb cluster stop

It is the real thing, small: for tests, for lessons, to see what a cluster costs before there is one.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def action(name: str, text: str) -> argparse.ArgumentParser:
        return actions.add_parser(name, help=text, description=text, formatter_class=Help)

    start = action("start", "start a master and workers, and wait until they have found each other")
    start.add_argument("--workers", type=int, default=2, metavar="N", help="how many [2]")
    start.add_argument("--cores", type=int, default=1, metavar="N", help="cores of each worker [1]")
    start.add_argument(
        "--memory", type=int, default=1024, metavar="MB", help="memory of each worker's executors [1024]"
    )
    action("status", "where it is and who is there")
    action("stop", "end it, and remove its folder")


def run(args: argparse.Namespace) -> int:
    from driver.spark.cluster import alive_workers, cluster_folder, find_cluster, start_cluster, stop_cluster

    if args.action == "stop":
        print("stopped" if stop_cluster() else "no cluster runs")
        return 0
    if args.action == "start":
        for option in ("workers", "cores"):
            if getattr(args, option) < 1:
                raise Refusal(f"--{option} must be 1 or more, not {getattr(args, option)}")
        # Spark keeps 300 MB of an executor for itself, and wants half as much again.
        if args.memory < 512:
            raise Refusal(f"--memory must be 512 or more, not {args.memory}")
        cluster = start_cluster(args.workers, args.cores, args.memory)
    elif (there := find_cluster()) is None or not there.processes[0].is_alive():
        print("no cluster runs; lrb cluster start starts one")
        return 1
    else:
        cluster = there
    print(f"master   {cluster.master}")
    print(
        f"workers  {alive_workers(cluster)} of {cluster.workers}, "
        f"each with {format_count(cluster.cores, 'core')} and {cluster.memory_mb:,} MB"
    )
    master, *workers = cluster.processes
    numbers = ", ".join(str(worker.pid) for worker in workers if worker.is_alive())
    print(f"process  {master.pid} is the master; workers: {numbers or 'none'}")
    print(f"page     http://127.0.0.1:{cluster.page_port}")
    print(f"folder   {cluster_folder()}")
    return 0
