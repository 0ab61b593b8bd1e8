"""`lrb compare`: engines side by side."""

from __future__ import annotations

import argparse
import itertools
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from driver.cli import FAIL_STATUS, add_limits_argument, add_server_arguments, parse_repeat
from driver.cli import run as run_command
from driver.cli.engine_arguments import ENGINE_ARGUMENTS, LISTS, PART_ARGUMENTS
from driver.run.config import FOREIGN, SLOW_TO_START
from driver.run.engines import ENGINES, Backends
from driver.run.limits import limits_argument
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from driver.cli.compare_runs import Kind
    from driver.report.scaling import Series
    from driver.run.limits import Limits
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
  lrb compare road1 --engines polling,duckdb --repeat 3 --clock virtual
                                                           three times each: the median and the range
  lrb compare road1 --xways 0.5,1,2,5,10 --clock virtual --stop-when-late
                                                           response time and cost per tuple against L, also as CSV
  lrb compare road1 --anatomy                              what the price of a database is made of, rung by rung
  lrb compare runs/0007-polling-L1 runs/0008-polling-L1    runs that were made before; unjudged ones are judged
"""
FAILS = ", 3 the verdict on an engine is FAIL"
# Options of `lrb run` that a comparison takes; each may have several values with commas between.
RUN_ARGUMENTS = {**PART_ARGUMENTS, **ENGINE_ARGUMENTS}
BROKE_STATUS = 2
# What it writes of systems at several L.
CSV_NAME = "scaling.csv"
MOST_LISTED = 8
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
    parser.add_argument("--repeat", type=parse_repeat, metavar="N", help="run each N times: median and range [1]")
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
    _check_anatomy(args)
    if args.anatomy:
        from driver.cli.anatomy import run_anatomy

        return run_anatomy(args)
    from driver.cli.compare_runs import Kind, judge_kinds

    out = args.out or _next_folder()
    if (args.paths[0] / "dataset.json").exists():
        kinds = _make_runs(args, out)
    else:
        kinds = [Kind(number, None, [folder]) for number, folder in enumerate(_given_runs(args))]
    judge_kinds(kinds, args.limits, args.master)
    return show_kinds(kinds, out, args.limits, args.json)


def show_kinds(kinds: Sequence[Kind], out: Path, limits: Limits | None, as_json: bool) -> int:
    """Write what came of the runs into a folder, print it, and give the exit status."""
    import json

    from driver.report.compare import as_json as comparison_json
    from driver.report.compare import columns, text
    from driver.report.comparison import NAME, PAGE, comparison_record, write_comparison
    from driver.report.html.file import write_page
    from driver.report.html.run import run_page
    from driver.report.measures import typical
    from driver.run.recount import open_run_under

    runs = [[open_run_under(folder, limits) for folder in kind.folders] for kind in kinds]
    data: object
    if len({kind.xways for kind in kinds}) > 1:
        series = _series(kinds, runs)
        record = comparison_record(runs, out, [series[kind.system].label for kind in kinds])
        write_comparison(out, record)
        lines, data = _write_scaling(list(series.values()), out), record
    else:
        chosen = [typical(of_kind) for of_kind in runs]
        table = columns(chosen, runs)
        write_comparison(out, comparison_record(runs, out))
        write_page(out / PAGE, run_page(chosen, out, runs))
        lines, data = text(table), comparison_json(table)
    print(json.dumps(data) if as_json else "\n".join(lines))
    if not as_json:
        files = [out / name for name in (PAGE, NAME, CSV_NAME) if (out / name).exists()]
        folders = [folder for kind in kinds for folder in kind.folders]
        listed = folders if len(folders) <= MOST_LISTED else [f"and {len(folders)} runs"]
        print("\nsaved  " + "  ".join(map(str, [*files, *listed])))
    return _status([run for of_kind in runs for run in of_kind])


def _series(kinds: Sequence[Kind], runs: Sequence[list[RunRecord]]) -> dict[int, Series]:
    """Each system by its number, at rising L."""
    from driver.report.scaling import series_of

    systems: dict[int, dict[float, list[RunRecord]]] = {kind.system: {} for kind in kinds}
    for kind, of_kind in sorted(zip(kinds, runs, strict=True), key=lambda pair: pair[0].xways or 0.0):
        systems[kind.system][of_kind[0].json["dataset"]["xways"]] = of_kind
    return dict(zip(systems, series_of(list(systems.values())), strict=True))


def _write_scaling(systems: Sequence[Series], out: Path) -> list[str]:
    """The page and the CSV of systems at several L, and what to print."""
    from driver.report.comparison import PAGE
    from driver.report.html.file import write_page
    from driver.report.html.scaling import scaling_page
    from driver.report.scaling import csv_text, text

    write_page(out / PAGE, scaling_page(systems, out))
    write_page(out / CSV_NAME, csv_text(systems))
    return text(systems)


def _check_anatomy(args: argparse.Namespace) -> None:
    """Its rungs have options of their own."""
    if not args.anatomy:
        if args.readings is not None:
            raise Refusal("--readings is an option of --anatomy")
        return
    if args.repeat is not None:
        raise Refusal("--anatomy calls it --readings; leave out --repeat")
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

    if args.engines or args.repeat or any(getattr(args, _name(option)) for option in RUN_ARGUMENTS):
        raise Refusal("--engines, --repeat and the options of a run need a data set to run; name one instead of runs")
    for path in args.paths:
        read_run(path)
    if len(args.paths) < 2:
        raise Refusal(f"{args.paths[0]} is one run; name another one to compare it with")
    return list(args.paths)


def _make_runs(args: argparse.Namespace, out: Path) -> list[Kind]:
    """Run each of the variants as often as wanted; the comparison of one that is interrupted ends there."""
    from driver.cli.compare_runs import Plan, make_runs

    if len(args.paths) > 1:
        raise Refusal("name one data set, or two runs or more")
    configs = [run_command.config_of([str(args.paths[0]), *words]) for words in _variants(args)]
    alike = {(config.clock, config.from_minute, config.to_minute, str(config.limits)) for config in configs}
    if len(alike) > 1:
        raise Refusal("runs with different clocks, minutes or limits cannot be compared; give all of them the same")
    loads = len(_loads(args))
    # All L of a system follow one another.
    plans = [Plan(number // loads, config, number + 1) for number, config in enumerate(configs)]
    return make_runs(plans, Backends(args.dsn, args.master, args.database), out, args.repeat or 1)


def _loads(args: argparse.Namespace) -> list[str]:
    """The values of --xways."""
    given = getattr(args, _name("--xways"))
    loads = [value.strip() for value in given.split(",")] if given else [""]
    if len(set(loads)) < len(loads):
        raise Refusal(f"--xways {given}: an L is named twice")
    return loads


def _variants(args: argparse.Namespace) -> list[list[str]]:
    """The words for `lrb run`, a list per run: engines times the values of each option."""
    engines = _engines(args.engines or ",".join(OURS))
    for words in engines:
        if not words or words[0] not in ENGINES:
            raise Refusal(f"--engines {args.engines}: there is {', '.join(ENGINES)}")
    # L comes last: all of a system's follow one another.
    choices = [
        [[option, value.strip()] for value in ([given] if option in LISTS else given.split(","))]
        for option in sorted(RUN_ARGUMENTS, key=lambda option: option == "--xways")
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
