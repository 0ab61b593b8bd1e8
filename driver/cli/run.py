"""`lrb run`: one data set, one engine, one clock."""

from __future__ import annotations

import argparse
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driver.engines import BY_ROW, ENGINES, GRANULARITIES, Place
from polling_baseline.database.connection import add_dsn_argument
from polling_baseline.database.settings import DURABILITIES
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from driver.result import RunConfig

SUMMARY = "Feed a data set to one engine on schedule and report which deadlines it kept."
EXAMPLES = """\
  lrb run road1                                in real time, on PostgreSQL polled once a second
  lrb run --clock virtual road1                as fast as the engine can, response times as in real time
  lrb run --engine trigger --granularity statement road1   the same rules, set off by the insert of each second
  lrb run --like runs/0007-polling-L1          the same run again
  lrb run --resume runs/0007-polling-L1        go on with a run that was killed, if its durability is on
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", metavar="DATASET", type=Path, nargs="?", help="a folder made by generate or import")
    parser.add_argument("--engine", choices=ENGINES, help="the system under test [polling]")
    parser.add_argument("--clock", choices=("real", "virtual"), help="wait for each second, or skip waiting [real]")
    parser.add_argument("--period", type=_period, metavar="SECONDS", help="time between two polling cycles [1]")
    parser.add_argument("--workers", type=int, metavar="N", help="connections that share the expressways [cores]")
    parser.add_argument("--durability", choices=DURABILITIES, help="recovery logging [off]")
    parser.add_argument(
        "--granularity",
        choices=GRANULARITIES,
        help="of engine trigger: an INSERT per tuple and a row trigger, a COPY and a row trigger, "
        "or a COPY and a statement trigger [row]",
    )
    parser.add_argument("--from-minute", type=int, metavar="A", help="leave out what comes before minute A [1]")
    parser.add_argument("--to-minute", type=int, metavar="B", help="leave out what comes after minute B [the last]")
    parser.add_argument("--out", type=Path, metavar="RUN", help="where the run is saved [runs/NNNN-engine-L]")
    parser.add_argument("--like", type=Path, metavar="RUN", help="take every option from an earlier run")
    parser.add_argument("--resume", type=Path, metavar="RUN", help="go on with a run that broke or was killed")
    parser.add_argument("--master", default="local[*]", help="the Spark that loads the history [local[*]]")
    add_dsn_argument(parser)


def run(args: argparse.Namespace) -> int:
    from driver.dataset import open_dataset
    from driver.report import text
    from driver.run import go_on, measure

    place = Place(args.dsn, args.master)
    if args.resume:
        _refuse_options(args)
        facts = go_on(args.resume, place)
        print(text(facts, args.resume))
        return 0 if facts["state"] == "complete" else 2
    config = _config(args)
    dataset = open_dataset(Path(config.dataset))
    folder = _folder(args.out, config.engine, dataset.xways)
    facts = measure(config, dataset, place, folder)
    print(text(facts, folder))
    return 0 if facts["state"] == "complete" else 2


def _refuse_options(args: argparse.Namespace) -> None:
    """A run goes on as it was begun."""
    others = (
        "dataset",
        "engine",
        "clock",
        "period",
        "workers",
        "durability",
        "from_minute",
        "to_minute",
        "out",
        "like",
    )
    if any(getattr(args, name) is not None for name in others):
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
    from driver.dataset import open_dataset
    from driver.result import RunConfig, read_run

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
    }
    options = _engine_options(args, args.engine or like.get("engine", "polling"), like)
    chosen = {**like, "engine_options": options, **{name: value for name, value in given.items() if value is not None}}
    if options.get("granularity") in BY_ROW:
        if (args.workers or 1) > 1:
            raise Refusal("a row trigger runs on one connection: leave out --workers, or add --granularity statement")
        chosen["workers"] = 1
    if "dataset" not in chosen:
        raise Refusal("name a data set, or an earlier run with --like; lrb generate makes a data set")
    dataset = open_dataset(Path(chosen["dataset"]))
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
    config = RunConfig(**{**defaults, **chosen})
    if not 1 <= config.from_minute <= config.to_minute <= minutes:
        raise Refusal(
            f"minutes {config.from_minute} to {config.to_minute} are not in {dataset.path}: it has 1 to {minutes}"
        )
    if not 1 <= config.workers <= 64:
        raise Refusal(f"--workers {config.workers} cannot be: 1 to 64")
    # A worker without an expressway would have nothing to do.
    return replace(config, workers=min(config.workers, len(dataset.traffic)))


def _engine_options(args: argparse.Namespace, engine: str, like: dict[str, Any]) -> dict[str, str]:
    """What only this engine knows, by the option's name: as given, else as in the run to repeat."""
    if engine == "trigger":
        return {"granularity": args.granularity or like.get("engine_options", {}).get("granularity", "row")}
    if args.granularity:
        raise Refusal(f"--granularity is an option of --engine trigger; engine {engine} has none such")
    return {}


def _folder(out: Path | None, engine: str, xways: float) -> Path:
    """A folder that does not exist yet."""
    if out:
        if out.exists():
            raise Refusal(f"{out} exists; choose another --out")
        return out
    taken = [int(match[1]) for path in Path("runs").glob("*") if (match := re.match(r"(\d{4,})-", path.name))]
    return Path("runs") / f"{max(taken, default=0) + 1:04d}-{engine}-L{xways:g}"
