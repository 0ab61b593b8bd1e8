"""`lrb compare`: engines side by side."""

from __future__ import annotations

import argparse
import itertools
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from driver.cli import FAIL_STATUS, add_limits_argument, add_server_arguments
from driver.cli import run as run_command
from driver.run.config import FOREIGN, SLOW_TO_START
from driver.run.engines import ENGINES, Backends
from driver.run.limits import limits_argument
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from driver.run.config import RunConfig
    from driver.run.record import RunRecord

SUMMARY = "Run engines on the same data with the same clock, judge them, and show them side by side."
EXAMPLES = """\
  lrb compare road1 --clock virtual                        the engines that start within seconds
  lrb compare road1 --engines polling,structured_streaming --clock virtual
                                                           Spark Structured Streaming, which warms up for half a minute
  lrb compare road1 --engines polling,trigger --durability on,off
                                                           each of them with and without recovery logging
  lrb compare road1 --engines 'polling, polling --period 2'
                                                           each with options of its own, as for lrb run
  lrb compare road1 --engines 'polling --design 2004, polling --design merge, polling'
                                                           designs of System X
  lrb compare road1 --anatomy                              what the price of a database is made of, rung by rung
  lrb compare runs/0007-polling-L1 runs/0008-polling-L1    runs that were made before; unjudged ones are judged
"""
FAILS = ", 3 the verdict on an engine is FAIL"
# Options of `lrb run` that a comparison takes; each may have several values with commas between.
RUN_ARGUMENTS = {**run_command.PART_ARGUMENTS, **run_command.ENGINE_ARGUMENTS}
BROKE_STATUS = 2
# Every engine that can be run without a word more, and starts within seconds.
OURS = tuple(name for name in ENGINES if name not in (*FOREIGN, *SLOW_TO_START))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="DATASET | RUN", type=Path, nargs="+", help="a data set, or two runs or more")
    others = ", ".join(SLOW_TO_START)
    parser.add_argument(
        "--engines", metavar="NAME,...", help=f"the engines to run, {others} only if named [{','.join(OURS)}]"
    )
    parser.add_argument("--out", metavar="DIR", type=Path, help="where runs and page are saved [comparisons/NNNN]")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--master", default="local[*]", help="the Spark that judges [local[*]]")
    parser.add_argument(
        "--anatomy",
        action="store_true",
        help="a ladder of systems from the stream engine to the row trigger, each judged, at two loads [--xways 1,5]",
    )
    parser.add_argument("--readings", type=int, metavar="N", help="with --anatomy: runs of each rung and load [3]")
    parser.add_argument("--stop-when-late", action="store_true", help="stop each run at its first late answer")
    add_limits_argument(parser, "specification, or those of the runs")
    add_server_arguments(parser)
    for option, words in RUN_ARGUMENTS.items():
        metavar = words.get("metavar") or "|".join(words["choices"])
        parser.add_argument(option, dest=_name(option), metavar=metavar, help=words["help"])


def _name(option: str) -> str:
    """Of the argument that has the values of an option of `lrb run`."""
    return f"run_{option[2:].replace('-', '_')}"


def run(args: argparse.Namespace) -> int:
    import json

    from driver.report.compare import as_json, check_comparable, columns, text
    from driver.report.html.file import write_page
    from driver.report.html.run import refresh_report, run_page
    from driver.run.recount import open_run_under

    _check_anatomy(args)
    if args.anatomy:
        from driver.cli.anatomy import run_anatomy

        return run_anatomy(args)
    out = args.out or _next_folder()
    folders = _make_runs(args, out) if (args.paths[0] / "dataset.json").exists() else _given_runs(args)
    check_comparable([open_run_under(folder, args.limits) for folder in folders])
    _judge(folders, args.master)
    for folder in folders:
        refresh_report(folder)
    runs = [open_run_under(folder, args.limits) for folder in folders]
    table = columns(runs)
    out.mkdir(parents=True, exist_ok=True)
    write_page(out / "compare.html", run_page(runs, out))
    print(json.dumps(as_json(table)) if args.json else "\n".join(text(table)))
    if not args.json:
        print(f"\nsaved  {out / 'compare.html'}  " + "  ".join(map(str, folders)))
    return _status(runs)


def _check_anatomy(args: argparse.Namespace) -> None:
    """Its rungs have options of their own."""
    if not args.anatomy:
        if args.readings is not None:
            raise Refusal("--readings is an option of --anatomy")
        return
    if args.readings is not None and args.readings < 1:
        raise Refusal(f"--readings must be 1 or more, not {args.readings}")
    if len(args.paths) > 1 or not (args.paths[0] / "dataset.json").exists():
        raise Refusal("an anatomy makes its own runs: name one data set")
    own = ("--xways", "--from-minute", "--to-minute")
    others = [option for option in RUN_ARGUMENTS if option not in own and getattr(args, _name(option)) is not None]
    others += ["--engines"] if args.engines else []
    others += ["--limits"] if args.limits is not None else []
    others += ["--stop-when-late"] if args.stop_when_late else []
    if others:
        raise Refusal(f"--anatomy chooses {others[0]} itself; leave it out")


def _status(runs: Sequence[RunRecord]) -> int:
    if any(run.json["state"] in ("broken", "interrupted", "running") for run in runs):
        return BROKE_STATUS
    return FAIL_STATUS if any(run.verdict and run.verdict["verdict"] == "FAIL" for run in runs) else 0


def _next_folder() -> Path:
    taken = [int(path.name) for path in Path("comparisons").glob("*") if re.fullmatch(r"\d{4,}", path.name)]
    return Path("comparisons") / f"{max(taken, default=0) + 1:04d}"


def _given_runs(args: argparse.Namespace) -> list[Path]:
    from driver.run.record import read_run

    if args.engines or any(getattr(args, _name(option)) for option in RUN_ARGUMENTS):
        raise Refusal("--engines and the options of a run need a data set to run; name one instead of runs")
    for path in args.paths:
        read_run(path)
    if len(args.paths) < 2:
        raise Refusal(f"{args.paths[0]} is one run; name another one to compare it with")
    return list(args.paths)


def _make_runs(args: argparse.Namespace, out: Path) -> list[Path]:
    """Run each of the variants; the comparison of one that is interrupted ends there."""
    if len(args.paths) > 1:
        raise Refusal("name one data set, or two runs or more")
    configs = [run_command.config_of([str(args.paths[0]), *words]) for words in _variants(args)]
    alike = {(config.clock, config.from_minute, config.to_minute, str(config.limits)) for config in configs}
    if len(alike) > 1:
        raise Refusal("runs with different clocks, minutes or limits cannot be compared; give all of them the same")
    folders = [out / f"{number}-{config.engine}" for number, config in enumerate(configs, 1)]
    if taken := [folder for folder in folders if folder.exists()]:
        raise Refusal(f"{taken[0]} exists; choose another --out")
    for number, (config, folder) in enumerate(zip(configs, folders, strict=True), 1):
        print(f"compare: running {config.label}, {number} of {len(configs)}", file=sys.stderr)
        if _run_one(config, Backends(args.dsn, args.master, args.database), folder) == "interrupted":
            return folders[:number]
    return folders


def _variants(args: argparse.Namespace) -> list[list[str]]:
    """The words for `lrb run`, a list per run: engines times the values of each option."""
    engines = _engines(args.engines or ",".join(OURS))
    for words in engines:
        if not words or words[0] not in ENGINES:
            raise Refusal(f"--engines {args.engines}: there is {', '.join(ENGINES)}")
    choices = [
        [[option, value.strip()] for value in ([given] if option in run_command.LISTS else given.split(","))]
        for option in RUN_ARGUMENTS
        if (given := getattr(args, _name(option))) is not None
    ]
    flags = ["--stop-when-late"] if args.stop_when_late else []
    if args.limits is not None:
        flags += ["--limits", limits_argument(args.limits)]
    return [
        ["--engine", *engine, *itertools.chain(*chosen), *flags]
        for engine in engines
        for chosen in itertools.product(*choices)
    ]


def _engines(text: str) -> list[list[str]]:
    """The words between commas; a comma in quotes is part of a word."""
    try:
        return [shlex.split(item) for item in re.split(r""",(?=(?:[^'"]|'[^']*'|"[^"]*")*$)""", text)]
    except ValueError as error:
        raise Refusal(f"--engines {text}: {str(error).lower()}") from None


def _run_one(config: RunConfig, backends: Backends, folder: Path) -> str:
    """Make a run, and give its state; one that breaks before it starts leaves a folder that says so."""
    from driver.run.loop import broken_run, measure
    from driver.run.record import write_run
    from polling_baseline.engine import EngineFailure

    dataset = config.open_dataset()
    try:
        return str(measure(config, dataset, backends, folder)["state"])
    except (Refusal, EngineFailure) as failure:
        print(f"compare: {config.label} broke: {failure}", file=sys.stderr)
        folder.mkdir(parents=True, exist_ok=True)
        write_run(folder, broken_run(config, dataset, str(failure)))
        return "broken"


def _judge(folders: Sequence[Path], master: str) -> None:
    """Judge the runs that have answers and no verdict yet."""
    from driver.run.record import open_run
    from driver.validate.judging import judge_runs

    runs = [open_run(folder) for folder in folders]
    unjudged = [run for run in runs if run.verdict is None and (run.folder / "output.csv").exists()]
    if not unjudged:
        return
    dataset = unjudged[0].config.open_dataset()
    if dataset.identity != unjudged[0].json["dataset"]["identity"]:
        raise Refusal(f"{dataset.path} is not the data of {unjudged[0].folder} any more, so it cannot be judged")
    judge_runs(
        dataset, [run.folder for run in unjudged], master, lambda phase: print(f"compare: {phase}", file=sys.stderr)
    )
