"""`lrb run`: one data set, one engine, one clock."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driver.cli import length
from driver.run.engines import BY_ROW, ENGINES, GRANULARITIES, ON_POSTGRESQL, OPTIONS, SHEDDING, Place
from polling_baseline.database.connection import add_server_arguments
from polling_baseline.database.settings import DURABILITIES
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from driver.run.result import RunConfig

SUMMARY = "Feed a data set to one engine on schedule and report which deadlines it kept."
EXAMPLES = """\
  lrb run road1                                in real time, on PostgreSQL polled once a second
  lrb run --clock virtual road1                as fast as the engine can, response times as in real time
  lrb run --clock virtual --xways 40 --from-minute 161 road1
                                               40 expressways, copies of those in road1, in the last 20 minutes
  lrb run --engine trigger --granularity statement road1
                                               the same rules, set off by the insert of each second
  lrb run --engine aurora --workers 1 road1    on the stream engine, in one process
  lrb run --like runs/0007-polling-L1          the same run again, on the same server
  lrb run --resume runs/0007-polling-L1        go on with a run that was killed, if its durability is on
  lrb run --database ann road1                 in a database of its own, beside other runs on the same server
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", metavar="DATASET", type=Path, nargs="?", help="a folder made by generate or import")
    parser.add_argument("--engine", choices=ENGINES, help="the system under test [polling]")
    parser.add_argument("--clock", choices=("real", "virtual"), help="wait for each second, or skip waiting [real]")
    add_engine_arguments(parser)
    parser.add_argument(
        "--xways", type=length, metavar="L", help="as so many expressways, copies if need be [as in DATASET]"
    )
    parser.add_argument("--from-minute", type=int, metavar="A", help="leave out what comes before minute A [1]")
    parser.add_argument("--to-minute", type=int, metavar="B", help="leave out what comes after minute B [the last]")
    parser.add_argument("--out", type=Path, metavar="RUN", help="where the run is saved [runs/NNNN-engine-L]")
    parser.add_argument("--like", type=Path, metavar="RUN", help="take every option from an earlier run")
    parser.add_argument("--resume", type=Path, metavar="RUN", help="go on with a run that broke or was killed")


def add_engine_arguments(parser: argparse.ArgumentParser) -> None:
    """How an engine is run, whatever the command that runs it."""
    parser.add_argument("--period", type=_period, metavar="SECONDS", help="time between two polling cycles [1]")
    parser.add_argument("--workers", type=int, metavar="N", help="connections that share the expressways [cores]")
    parser.add_argument("--durability", choices=DURABILITIES, help="recovery logging [off]")
    parser.add_argument(
        "--granularity",
        choices=GRANULARITIES,
        help="of engine trigger: an INSERT per tuple and a row trigger, a COPY and a row trigger, "
        "or a COPY and a statement trigger [row]",
    )
    parser.add_argument("--shed", choices=SHEDDING, help="of engine aurora: what to drop when it is too late [none]")
    parser.add_argument("--train-size", type=int, metavar="N", help="of engine aurora: tuples per train [50000]")
    parser.add_argument("--master", default="local[*]", help="the Spark that loads the history [local[*]]")
    add_server_arguments(parser)


def config_from(args: argparse.Namespace, **given: object) -> RunConfig:
    """The options of a run for another command: `given`, else what its own arguments say, else the defaults."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return _config(argparse.Namespace(**{**vars(parser.parse_args([])), **vars(args), **given}))


def run(args: argparse.Namespace) -> int:
    from driver.dataset.relabel import dataset_of
    from driver.report.text import text
    from driver.run.earlier_server import same_place
    from driver.run.loop import go_on, measure
    from driver.run.result import read_run

    place = Place(args.dsn, args.master, args.database)
    if args.resume:
        _refuse_options(args)
        folder = args.resume
        facts = go_on(folder, place)
    else:
        config = _config(args)
        dataset = dataset_of(config)
        if args.like and config.engine in ON_POSTGRESQL:
            place = same_place(place, args.like, read_run(args.like))
        folder = _folder(args.out, config.engine, dataset.xways)
        facts = measure(config, dataset, place, folder)
    print(text(facts, folder))
    return 0 if facts["state"] in ("complete", "late") else 2


def _refuse_options(args: argparse.Namespace) -> None:
    """A run goes on as it was begun."""
    mine = ("resume", "dsn", "database", "master", "command", "run")
    if any(value not in (None, False) for name, value in vars(args).items() if name not in mine):
        raise Refusal("--resume takes all options of the run that it names; leave the others out")


def _period(text: str) -> float:
    try:
        period = float(text)
    except ValueError:
        period = 0.0
    if not 0.1 <= period <= 29:
        raise argparse.ArgumentTypeError(f"{text} is not a period: 0.1 to 29 seconds")
    return period


def _config(args: argparse.Namespace) -> RunConfig:
    """The options given, else those of --like, else the defaults."""
    from driver.dataset.folder import open_dataset
    from driver.dataset.relabel import relabelled
    from driver.run.result import RunConfig, read_run

    like = read_run(args.like)["config"] if args.like else {}
    given = {
        "dataset": str(args.dataset.absolute()) if args.dataset else None,
        "engine": args.engine,
        "clock": args.clock,
        "period_s": args.period,
        "workers": args.workers,
        "durability": args.durability,
        "from_minute": args.from_minute,
        "to_minute": args.to_minute,
        "xways": args.xways,
    }
    engine = args.engine or like.get("engine", "polling")
    options = _engine_options(args, engine, like)
    chosen = {**like, "engine_options": options, **{name: value for name, value in given.items() if value is not None}}
    if options.get("granularity") in BY_ROW:
        if (args.workers or 1) > 1:
            raise Refusal("a row trigger runs on one connection: leave out --workers, or add --granularity statement")
        chosen["workers"] = 1
    if "dataset" not in chosen:
        raise Refusal("name a data set, or an earlier run with --like; lrb generate makes a data set")
    _refuse_gone(chosen["dataset"], args)
    dataset = relabelled(open_dataset(Path(chosen["dataset"])), chosen.get("xways"))
    if not dataset.traffic:
        raise Refusal(f"{dataset.path} has no traffic to run")
    minutes = dataset.seconds // 60
    defaults = {
        "engine": "polling",
        "clock": "real",
        "period_s": 1.0,
        "workers": os.cpu_count() or 1,
        "durability": "off",
        "from_minute": 1,
        "to_minute": minutes,
    }
    try:
        config = RunConfig(**{**defaults, **chosen})
    except TypeError:
        raise Refusal(f"{args.like}/run.json is damaged: it has options that no run has; run it again") from None
    if not 1 <= config.from_minute <= config.to_minute <= minutes:
        raise Refusal(
            f"minutes {config.from_minute} to {config.to_minute} are not in {dataset.path}: it has 1 to {minutes}"
        )
    if not 1 <= config.workers <= 64:
        raise Refusal(f"--workers must be 1 to 64, not {config.workers}")
    # A worker without an expressway would have nothing to do.
    return replace(config, workers=min(config.workers, len(dataset.traffic)))


def _refuse_gone(dataset: str, args: argparse.Namespace) -> None:
    """A data set that an earlier run names, and that was moved since, must be named again."""
    if args.dataset is None and not Path(dataset).exists():
        raise Refusal(
            f"{dataset}, the data set of {args.like}, is no longer there; "
            f"give its place: lrb run --like {shlex.quote(str(args.like))} DATASET"
        )


def _engine_options(args: argparse.Namespace, engine: str, like: dict[str, Any]) -> dict[str, str]:
    """What only this engine knows, by the option's name: as given, else as in the run to repeat, else its default."""
    given = {name: str(value) for names in OPTIONS.values() for name in names if (value := getattr(args, name))}
    for owner, names in OPTIONS.items():
        if owner != engine and (others := [name for name in names if name in given]):
            option = others[0].replace("_", "-")
            raise Refusal(f"--{option} is an option of --engine {owner}; engine {engine} has none such")
    if args.train_size is not None and args.train_size < 1:
        raise Refusal(f"--train-size must be 1 or more, not {args.train_size}")
    before = like.get("engine_options", {}) if like.get("engine") == engine else {}
    defaults = {name: value for name, value in OPTIONS.get(engine, {}).items() if value}
    return {**defaults, **before, **given}


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
    return _config(parser.parse_args(words))
