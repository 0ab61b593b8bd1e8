"""`lrb validate`: the judge."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from driver.cli import FAIL_STATUS, add_limits_argument, readings
from driver.cli.beside import is_beside, wait_for_run
from driver.cli.part import add_part_arguments, part_from, xways_from
from driver.cli.verdict_text import minute_line, text
from driver.run.limits import limits_in_force
from driver.run.verdict import NAME, Verdict, write_verdict
from polling_baseline.files import refuse_what_is_no_text
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from driver.dataset.folder import Dataset
    from driver.run.judge_status import JudgeStatus
    from driver.validate.judge import Judgement, Question
    from driver.validate.kits.layouts import Output
    from driver.validate.live.live_judge import MinuteVerdict

SUMMARY = "Judge the answers of a run, or of any system's output file: right or wrong, early or late, and why."
EXAMPLES = """\
  lrb validate road1 runs/0007-polling-L1            the verdict goes to the run's folder, as verdict.json
  lrb validate road1 --output answers.csv            a system of your own; the verdict goes to answers.verdict.json
  lrb validate road1 runs/0007-polling-L1 --limits toll=3
                                                     3 s for a toll notification, the others as specified
  lrb validate road1 --output answers.csv --explain 3 --faults faults.csv
                                                     the first faults explained, all of them in a file
  lrb validate road1 --output answers.csv --page faults.html
                                                     faults over time, by segment and minute, as a page
  lrb validate road1 runs/0007-polling-L1 --follow   beside the run: each minute's faults once it is over
  lrb validate road1 --reading walmart2015 --output their.out
                                                     by the rules of another kit, in the layout of its files
  lrb validate road1 --reading perl2004 --output type0.csv --output type1.csv --output type2.csv
                                                     a file per kind of answer

The file has one answer per line, plain or gzip; Emit is in seconds since the start of the run, with three decimals:
  0,VID,Time,Emit,LAV,Toll                toll notification, within 5 s
  1,Time,Emit,VID,Seg                     accident alert, 5 s
  2,Time,Emit,ResultTime,QID,Bal          account balance, 5 s
  3,Time,Emit,QID,Bal                     daily expenditure, 10 s
  4,Time,Emit,QID,TravelTime,Toll         travel time, 30 s
"""
# A page explains so many of each kind of fault, unless --explain says otherwise.
ON_PAGE = 2
LOW_PRIORITY = 10
FAILS = ", 3 the verdict is FAIL"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", metavar="DATASET", type=Path, help="a folder made by lrb generate or lrb import")
    parser.add_argument("run_folder", metavar="RUN", type=Path, nargs="?", help="a folder made by lrb run")
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=Path,
        action="append",
        help="judge this output file instead of a run; several times if there is a file per kind",
    )
    readings.add_reading_arguments(parser)
    parser.add_argument("--verdict", metavar="FILE", type=Path, help="where the verdict goes [see above]")
    parser.add_argument("--explain", metavar="N", type=int, default=0, help="show the first N of each kind of fault")
    parser.add_argument(
        "--faults",
        metavar="FILE",
        type=Path,
        help="write all faults as CSV, or Parquet if it ends in .parquet",
    )
    parser.add_argument("--page", metavar="FILE", type=Path, help="show the faults as a page: when, where, and why")
    parser.add_argument("--follow", action="store_true", help="judge a run while it goes on, minute by minute")
    # Of `lrb run --judge`: the process that makes the run, what `version_of_run` was before it, and whether it is to
    # stop at a fault.
    parser.add_argument("--beside", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--before", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--stop-at-fault", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--lenient", action="store_true", help="accept the specification's lenient readings as well")
    parser.add_argument(
        "--travel-time", choices=("seconds", "minutes"), default="seconds", help="minutes need --lenient [%(default)s]"
    )
    add_limits_argument(parser, "those of the run, or specification")
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON instead of a table")
    add_part_arguments(parser)


def run(args: argparse.Namespace) -> int:
    readings.check_arguments(args)
    if args.beside and not wait_for_run(args.run_folder, args.beside, args.before):
        return 0
    question, output = _question(args)
    if args.follow:
        return _follow(args, question)
    from driver.validate.judge import judged, quiet_session

    with judged(quiet_session(args.master), question, _say) as judgement:
        others = readings.judge_by_others(args, question, output)
        verdict = readings.choose_verdict(args, judgement.verdict, others)
        path = _keep(args, verdict)
        print(json.dumps(verdict) if args.json else "\n".join(text(verdict)))
        _explain(judgement, args)
        if not args.json:
            for line in readings.text(args, judgement, others):
                print(line)
            pages = [args.run_folder / "report.html"] if args.run_folder else []
            print("  ".join(map(str, filter(None, ["saved", path, args.faults, args.page, *pages]))))
    return _status(verdict)


def _keep(args: argparse.Namespace, verdict: Verdict) -> Path:
    """Write the verdict; that of the paper's reading on a run is the run's own.

    It is the same whoever judged: the judge beside a run does not try other readings, so the run's own is without them.
    """
    from driver.report.html.run import refresh_report
    from driver.validate.judging import enter_verdict

    is_own = args.reading == readings.PAPER
    name = NAME if is_own else f"{args.reading}.{NAME}"
    path: Path = args.verdict or (args.run_folder / name if args.run_folder else verdict_path(args.output[0]))
    if args.run_folder and is_own:
        verdict = {**verdict}
        verdict.pop("accepted_by", None)
    write_verdict(path, verdict)
    if args.run_folder and is_own:
        enter_verdict(args.run_folder, verdict)
        refresh_report(args.run_folder)
    return path


def _status(verdict: Verdict) -> int:
    return 0 if verdict["verdict"] == "PASS" else FAIL_STATUS


def _follow(args: argparse.Namespace, question: Question) -> int:
    """Say what came of each minute of a run until it ends, then what came of all; beside a run, say nothing."""
    from driver.validate.live.follow import follow

    def announce(minute: MinuteVerdict) -> None:
        if not args.beside:
            print(minute_line(minute), file=sys.stderr if args.json else sys.stdout, flush=True)

    stopped = False

    def goes_on(status: JudgeStatus | None) -> bool:
        nonlocal stopped
        if status and status["stops_run"] and args.beside and not stopped:
            # Once: a second signal would not let the cycle under way end.
            os.kill(args.beside, signal.SIGINT)
            stopped = True
        return args.beside is None or is_beside(args.beside)

    if not args.beside:
        # The run comes first.
        os.nice(LOW_PRIORITY)
        _say("following the run; Ctrl-C leaves it alone")
    verdict = follow(args.run_folder, question, announce, goes_on, args.stop_at_fault)
    if verdict is None:
        return 0
    path = _keep(args, verdict)
    if not args.beside:
        print(json.dumps(verdict) if args.json else "\n".join([*text(verdict), f"saved  {path}"]))
    return _status(verdict)


def _question(args: argparse.Namespace) -> tuple[Question, Output | None]:
    """What the judge is asked; and the output as it was read, if it is in another layout."""
    from driver.dataset.folder import open_dataset
    from driver.dataset.integrity import check_files
    from driver.run.journal import OUTPUT
    from driver.validate.judge import Question
    from driver.validate.reading import Reading

    if bool(args.run_folder) == bool(args.output):
        raise Refusal("name a run, or an output file with --output FILE")
    if args.follow and not args.run_folder:
        raise Refusal("--follow needs a run: only its folder tells when it ends; leave out --output")
    not_yet = (args.explain, args.faults, args.page, args.lenient, args.xways, args.reading != readings.PAPER)
    if args.follow and any(not_yet):
        raise Refusal(
            "--follow judges all of a run, strictly and by the paper; for --explain, --faults, --page, --lenient, "
            "--xways and --reading judge it when it is over"
        )
    if args.travel_time == "minutes" and not args.lenient:
        raise Refusal("the specification's travel time is in seconds; minutes are accepted with --lenient only")
    dataset = open_dataset(args.dataset)
    if args.run_folder:
        dataset, seconds = _part_of_run(args, dataset)
    else:
        dataset, seconds = part_from(args, dataset)
    files = args.output or [args.run_folder / OUTPUT]
    for file in files:
        if not args.follow or file.exists():
            _see_that_it_is_readable(file)
    xways = xways_from(args, dataset)
    check_files(dataset)
    output = readings.read_foreign(args, dataset, seconds, files)
    reading = Reading(lenient=args.lenient, in_minutes=args.travel_time == "minutes")
    judged_file = files[0] if output is None else readings.in_own_layout(output)
    return Question(dataset, judged_file, seconds, xways, reading, limits_for(args)), output


def limits_for(args: argparse.Namespace) -> dict[str, float]:
    """Those given, else those of the run, else the specification's."""
    from driver.run.record import config_of, read_run

    if args.limits is None and args.run_folder:
        return limits_in_force(config_of(read_run(args.run_folder)).limits)
    return limits_in_force(args.limits or {})


def verdict_path(output: Path) -> Path:
    """`a.verdict.json` for `a.csv`, `a.csv.gz` or `a`: the files of one folder have verdicts of their own."""
    return output.with_name(output.name.removesuffix(".gz").removesuffix(".csv") + ".verdict.json")


def _see_that_it_is_readable(output: Path) -> None:
    """Before Spark takes its seconds to start.  What is packed is unpacked once: only then is it known to be whole."""
    from driver.dataset.packed_file import is_packed, opened

    refuse_what_is_no_text(output)
    if not output.is_file():
        raise Refusal(f"{output} is not a file; name the file that the answers are in")
    with opened(output) as (file, _):
        if is_packed(output):
            while file.read(1 << 20):
                pass
        elif output.suffix == ".gz":
            raise Refusal(f"{output} is not packed by gzip, though its name ends in .gz; rename it, or pack it")


def _part_of_run(args: argparse.Namespace, dataset: Dataset) -> tuple[Dataset, range]:
    """The expressways and the seconds that the run was made of."""
    from driver.run.record import config_of, read_run, seconds_of

    if args.from_minute or args.to_minute or args.ignore:
        raise Refusal("a run knows its part; leave out --from-minute, --to-minute and --ignore")
    record = read_run(args.run_folder)
    if record["dataset"]["identity"] != dataset.identity:
        raise Refusal(f"{args.run_folder} is a run of {record['dataset']['name']}, not of the data in {dataset.path}")
    return config_of(record).part_of(dataset), seconds_of(record)


def _explain(judgement: Judgement, args: argparse.Namespace) -> None:
    from driver.validate.explain import explain, lines_of_explanation
    from driver.validate.fault_files import write_faults

    count = args.explain or (ON_PAGE if args.page else 0)
    explained = [lines_of_explanation(one) for one in explain(judgement, count)] if count > 0 else []
    if args.explain > 0:
        for lines in explained:
            print("", *lines, sep="\n", file=sys.stderr if args.json else sys.stdout)
    if args.faults:
        _say("writing the faults")
        write_faults(judgement, args.faults)
    if args.page:
        _write_page(judgement, args.page, explained)


def _write_page(judgement: Judgement, path: Path, explained: Sequence[Sequence[str]]) -> None:
    from driver.report.html.faults import faults_page
    from driver.report.html.file import write_page
    from driver.validate.fault_counts import count_by_minute

    counts = count_by_minute(judgement)
    write_page(path, faults_page(judgement.verdict, counts.by_minute, counts.by_segment, explained))


def _say(phase: str) -> None:
    print(f"validate: {phase}", file=sys.stderr)
