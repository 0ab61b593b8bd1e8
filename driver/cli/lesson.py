"""`lrb lesson`: exercises that grade themselves."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driver.cli import FAIL_STATUS, Help
from polling_baseline.wording import format_command, format_table

if TYPE_CHECKING:
    from driver.lesson.folder import CheckRecord

SUMMARY = "Exercises that grade themselves: a small road, a file with a hole, and a judge that shows the first fault."
EXAMPLES = """\
  lrb lesson list                              the exercises
  lrb lesson start toll --seed ann             one of them, in the folder toll, on a road of Ann's own
  lrb lesson check toll                        run her file, judge it, show the first fault
  lrb lesson hint toll                         what may be behind the faults of the last check
  lrb lesson check class/*/toll --json         a line of JSON for each folder, for a class list
"""
FAILS = ", 3 an exercise is not right yet (check)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def action(name: str, text: str) -> argparse.ArgumentParser:
        return actions.add_parser(name, help=text, description=text, formatter_class=Help)

    action("list", "list the exercises")
    start = action("start", "make a folder with a road, a file with a hole and a README that says what to do")
    start.add_argument("name", metavar="NAME", help="an exercise; lrb lesson list names them")
    start.add_argument(
        "--seed", metavar="STUDENT", help="a name or a number: the same one gives the same road [your user name]"
    )
    start.add_argument("--out", metavar="FOLDER", type=Path, help="where the exercise goes [its name]")
    check = action("check", "run the file, judge its answers, show the first fault; exit status 3 until all are right")
    check.add_argument(
        "folders", metavar="FOLDER", type=Path, nargs="*", help="made by lrb lesson start [the current folder]"
    )
    check.add_argument("--json", action="store_true", help="print a line of JSON for each folder instead")
    check.add_argument("--master", metavar="URL", default="local[*]", help="the Spark of the judge [%(default)s]")
    hint = action("hint", "say what may be behind the faults of the last check, or how to begin")
    hint.add_argument("folder", metavar="FOLDER", type=Path, nargs="?", help="made by lrb lesson start [current one]")


def run(args: argparse.Namespace) -> int:
    return {"list": _list, "start": _start, "check": _check, "hint": _hint}[args.action](args)


def _list(_args: argparse.Namespace) -> int:
    from driver.lesson.exercise import EXERCISES

    rows = [(one.name, one.rules, one.file, one.summary) for one in EXERCISES.values()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("   ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def _start(args: argparse.Namespace) -> int:
    from driver.lesson.exercise import find_exercise
    from driver.lesson.folder import start_lesson

    exercise = find_exercise(args.name)
    folder = args.out or Path(args.name)
    start_lesson(exercise, args.seed or _user(), folder)
    print(f"{exercise.summary}\n{folder / 'README.md'} says what to do; {folder / exercise.file} is yours to complete.")
    print(f"Then: {format_command('lesson', 'check', folder)}")
    return 0


def _user() -> str:
    """A user without an entry in the list of users has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "student"


def _check(args: argparse.Namespace) -> int:
    from driver.lesson.check import check_lesson

    def show(record: CheckRecord) -> str:
        return json.dumps(record) if args.json else "\n".join(text(record, folder))

    right = True
    for folder in args.folders or [Path()]:
        record = check_lesson(folder, _say, args.master)
        print(show(record), flush=True)
        right = right and record["verdict"] == "PASS"
    return 0 if right else FAIL_STATUS


def text(record: CheckRecord, folder: Path) -> list[str]:
    """A check for a terminal: the verdict, what came of each kind of answer, the first fault."""
    lines = [f"{record['verdict']}   {record['exercise']}   {record['student']}   score {record['score']} of 100"]
    if record["answers"]:
        names = ("expected", "received", "missing", "extra", "duplicate", "wrong")
        answers: Mapping[str, Mapping[str, Any]] = record["answers"]
        rows = [(kind, *(f"{counts[name]:,}" for name in names)) for kind, counts in answers.items()]
        lines += ["", *format_table(("answer", *names), rows)]
    if record["verdict"] == "PASS":
        return [*lines, "", "Every answer is right."]
    lines += ["", *record["evidence"], "", f"{format_command('lesson', 'hint', folder)} says what may be behind it."]
    return lines


def _hint(args: argparse.Namespace) -> int:
    from driver.lesson.folder import last_check, open_lesson

    folder = args.folder or Path()
    exercise, _ = open_lesson(folder)
    checked = last_check(folder)
    if checked is None:
        print(exercise.start_hint)
    elif checked["verdict"] == "PASS":
        print("Every answer was right: there is nothing to hint at.")
    else:
        print(checked["hint"])
    return 0


def _say(phase: str) -> None:
    print(f"lesson: {phase}", file=sys.stderr)
