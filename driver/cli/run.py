"""`lrb run`: one data set, one engine, one clock."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from driver.cli import FAIL_STATUS, add_limits_argument, parse_repeat
from driver.cli.engine_arguments import PART_ARGUMENTS, add_engine_arguments, engine_options
from driver.run.config import (
    DEFAULT_ENGINE,
    RunConfig,
    configure,
)
from driver.run.engines import ENGINES, ON_POSTGRESQL, Backends
from driver.run.record import read_run
from polling_baseline.refusal import Refusal
from polling_baseline.wording import format_command

if TYPE_CHECKING:
    from driver.dataset.folder import Dataset

SUMMARY = "Feed a data set to one engine on schedule and report which deadlines it kept."
EXAMPLES = """\
  lrb run road1                                in real time, on PostgreSQL polled once a second
  lrb run --clock virtual road1                as fast as the engine can, response times as in real time
  lrb run --clock virtual --xways 40 --from-minute 161 road1
                                               40 expressways, copies of those in road1, in the last 20 minutes
  lrb run --design 2004 road1                  the same answers, by tables as the paper had them
  lrb run --engine trigger --granularity statement road1
                                               the same rules, set off by the insert of each second
  lrb run --engine duckdb road1                the same design on a column store, in this process
  lrb run --engine sqlite road1                the same design in a library: no server, one connection, nothing logged
  lrb run --engine aurora --workers 1 road1    on the stream engine, in one process
  lrb run --engine structured_streaming --shards 2 road1
                                               on Spark Structured Streaming, after half a minute of warming up
  lrb run --engine structured_streaming --master spark://127.0.0.1:40123 road1
                                               the same on a cluster, such as lrb cluster starts
  lrb run --engine exec --command './my_system' road1
                                               on a program of your own, which docs/your-own-system.md explains
  lrb run --engine tcp --listen 127.0.0.1:9000 road1
                                               on a system that connects to the driver
  lrb run --clock virtual --slower 80 --catch-up off --ignore travel_time road1
                                               on a machine 80 times slower, with the paper's schedule and requests
  lrb run --like runs/0007-polling-L1          the same run again, on the same server
  lrb run --repeat 3 --clock virtual road1     three times: the median and the range of what it costs
  lrb run --resume runs/0007-polling-L1        go on with a run that was killed, if its durability is on
  lrb run --watch road1                        and watch it in a browser, as lrb watch shows it
  lrb run --judge --stop-at-fault road1        with the judge beside it, until it sees an answer that is not right
  lrb run --database ann road1                 in a database of its own, beside other runs on the same server
"""


FAILS = ", 3 the verdict is FAIL (--judge)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", metavar="DATASET", type=Path, nargs="?", help="a folder made by generate or import")
    parser.add_argument("--engine", choices=ENGINES, help=f"the system under test [{DEFAULT_ENGINE}]")
    for option, words in PART_ARGUMENTS.items():
        parser.add_argument(option, **words)
    add_engine_arguments(parser)
    parser.add_argument("--stop-when-late", action="store_true", default=None, help="stop at the first late answer")
    add_limits_argument(parser, "specification", "; engine aurora sheds load by the specification's all the same")
    parser.add_argument("--repeat", type=parse_repeat, metavar="N", help="run it N times: median and range [1]")
    parser.add_argument("--watch", action="store_true", help="show the run in a browser while it goes on")
    parser.add_argument("--judge", action="store_true", help="judge it while it goes on, by a process of its own")
    parser.add_argument("--stop-at-fault", action="store_true", help="with --judge: stop at the first fault it sees")
    parser.add_argument("--out", type=Path, metavar="RUN", help="where the run is saved [runs/NNNN-engine-L]")
    parser.add_argument("--like", type=Path, metavar="RUN", help="take every option from an earlier run")
    parser.add_argument("--resume", type=Path, metavar="RUN", help="go on with a run that broke or was killed")


def run(args: argparse.Namespace) -> int:
    from driver.report.html.run import refresh_report
    from driver.report.text import text
    from driver.run.earlier_server import same_backends
    from driver.run.loop import measure, resume_run

    backends = Backends(args.dsn, args.master, args.database)
    if args.stop_at_fault and not args.judge:
        raise Refusal("only a judge sees faults while the run goes on; give --judge as well")
    if args.resume:
        _refuse_options(args)
        folder = args.resume
        with _page_of(folder, args.watch), _judge_of(args, read_run(folder)["config"]["dataset"], folder):
            record = resume_run(folder, backends)
    else:
        config = config_from(args)
        dataset = config.open_dataset()
        if args.like and config.engine in ON_POSTGRESQL:
            backends = same_backends(backends, args.like, read_run(args.like))
        folder = _folder(args.out, config.engine, dataset.xways)
        if args.repeat and args.repeat > 1:
            if args.watch or args.judge:
                raise Refusal("one run can be watched or judged while it goes on; leave out --repeat")
            return _repeat(config, dataset, backends, folder, args.repeat)
        with _page_of(folder, args.watch), _judge_of(args, config.dataset, folder):
            record = measure(config, dataset, backends, folder)
    if args.judge:
        record = read_run(folder)
    else:
        refresh_report(folder)
    print(text(record, folder))
    if record["state"] not in ("complete", "late"):
        return 2
    return FAIL_STATUS if args.judge and record.get("verdict") != "PASS" else 0


def _judge_of(args: argparse.Namespace, dataset: str, folder: Path) -> AbstractContextManager[None]:
    """With `--judge`, the judge of the run that is made in the block."""
    return _judging(dataset, folder, args.stop_at_fault) if args.judge else nullcontext()


@contextmanager
def _judging(dataset: str, folder: Path, stop_at_fault: bool) -> Iterator[None]:
    """The verdict on the run that is made in the block, by a process of its own; it is there when the block ends."""
    from driver.cli.beside import end_beside, start_beside, version_of_run

    words = ["validate", dataset, folder, "--follow", "--before", version_of_run(folder)]
    judge = start_beside([*words, *(["--stop-at-fault"] if stop_at_fault else [])])
    try:
        yield
        judge.wait()
    finally:
        end_beside(judge)


def _repeat(config: RunConfig, dataset: Dataset, backends: Backends, out: Path, times: int) -> int:
    """The same run so many times, each in a folder of its own: the median and the range; an interrupt ends it."""
    from driver.cli.compare import show_kinds
    from driver.cli.compare_runs import Kind
    from driver.report.html.run import refresh_report
    from driver.run.loop import measure

    runs = Kind(0, dataset.xways)
    for number in range(1, times + 1):
        print(f"run: {number} of {times}", file=sys.stderr, flush=True)
        runs.folders.append(out / str(number))
        state = measure(config, dataset, backends, runs.folders[-1])["state"]
        refresh_report(runs.folders[-1])
        if state == "interrupted":
            break
    return show_kinds([runs], out, None, as_json=False)


def _page_of(folder: Path, watch: bool) -> AbstractContextManager[None]:
    """With `watch`, the page of the run that is made in the block."""
    from driver.cli.watch import watching

    return watching(folder) if watch else nullcontext()


def _refuse_options(args: argparse.Namespace) -> None:
    """A run goes on as it was begun; who looks on may be others."""
    mine = ("resume", "watch", "judge", "stop_at_fault", "dsn", "database", "master", "verb", "run")
    if any(value not in (None, False) for name, value in vars(args).items() if name not in mine):
        raise Refusal("--resume takes all options of the run that it names; leave the others out")


def config_from(args: argparse.Namespace) -> RunConfig:
    """The options given, else those of --like, else the defaults."""
    like = read_run(args.like)["config"] if args.like else None
    if like and args.dataset is None:
        _refuse_gone(like["dataset"], args.like)
    return configure(
        like or {},
        **engine_options(args),
        dataset=str(args.dataset.absolute()) if args.dataset else None,
        engine=args.engine,
        from_minute=args.from_minute,
        to_minute=args.to_minute,
        xways=args.xways,
        stop_when_late=args.stop_when_late,
        limits=args.limits,
    )


def _refuse_gone(dataset: str, like: Path) -> None:
    """A data set that an earlier run names, and that was moved since, must be named again."""
    if not Path(dataset).exists():
        raise Refusal(
            f"{dataset}, the data set of {like}, is no longer there; "
            f"give its place: {format_command('run', '--like', like)} DATASET"
        )


def _folder(out: Path | None, engine: str, xways: float) -> Path:
    """A folder that does not exist yet."""
    if out:
        if out.exists():
            raise Refusal(f"{out} exists; choose another --out")
        return out
    taken = [int(match[1]) for path in Path("runs").glob("*") if (match := re.match(r"(\d{4,})-", path.name))]
    return Path("runs") / f"{max(taken, default=0) + 1:04d}-{engine}-L{xways:g}"


def config_of(words: list[str]) -> RunConfig:
    """The options of the run that `lrb run` with these words would make."""
    from driver.cli import Parser

    parser = Parser(prog="lrb run")
    add_arguments(parser)
    args = parser.parse_args(words)
    if args.repeat:
        raise Refusal("all engines of a comparison are repeated alike: give --repeat to lrb compare itself")
    return config_from(args)
