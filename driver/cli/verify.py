"""`lrb verify`: is a bundle whole, and does it agree with itself?"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from driver.cli import FAIL_STATUS
from driver.run.machine import machine_words, warning_of_runs
from polling_baseline.wording import WIDTH, format_count

if TYPE_CHECKING:
    from driver.publish.checked import CheckedResult, CheckedRun
    from driver.run.record_types import Machine

SUMMARY = "Check a bundle from somebody else: checksums, contradictions, and with the data set the verdict again."
EXAMPLES = """\
  lrb verify theirs.zip                      are all files as they were packed, and do its records agree?
  lrb generate --xways 1 --seed 42 --out road1
  lrb verify theirs.zip --dataset road1      the verdict again: by its answers, or by their digest

A data set follows from its seed, so nobody has to send one.  A bundle finds mistakes and changes; who writes all of
its numbers anew, and makes them fit, is found out only by running the same system again.
"""
FAILS = ", 3 the bundle contradicts itself, or its data set"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", metavar="FILE", type=Path, help="made by lrb bundle")
    parser.add_argument("--dataset", metavar="DATASET", type=Path, help="the data that its runs were fed")
    parser.add_argument("--json", action="store_true", help="print JSON instead")
    parser.add_argument("--master", metavar="URL", default="local[*]", help="where Spark judges [%(default)s]")


def run(args: argparse.Namespace) -> int:
    from driver.publish.archive import unpacked
    from driver.publish.checked import check_folder

    with unpacked(args.bundle) as (folder, manifest):
        checked = check_folder(folder, manifest["kind"])
        again = _again(args, checked) if args.dataset else []
    faults = [*checked.all_faults, *(f"{place}: {what}" for place, what, fits in again if not fits)]
    result: dict[str, Any] = {
        "kind": manifest["kind"],
        "name": manifest["name"],
        "program": manifest["program"],
        "files": len(manifest["files"]),
        "runs": [_run_facts(place, run) for place, run in checked.runs.items()],
        "judged_again": [{"run": place, "result": what, "fits": fits} for place, what, fits in again],
        "faults": faults,
    }
    machines = [run.json["environment"]["machine"] for run in checked.runs.values()]
    result["machines"] = list(dict.fromkeys(", ".join(_machine_words(machine)) for machine in machines))
    result["warning"] = warning_of_runs(machines)
    if checked.rating:
        result["rating"] = checked.rating["rating"]
    print(json.dumps(result) if args.json else "\n".join(text(result)))
    return FAIL_STATUS if faults else 0


def _again(args: argparse.Namespace, checked: CheckedResult) -> list[tuple[str, str, bool]]:
    from driver.dataset.folder import open_dataset
    from driver.publish.again import judge_again
    from driver.validate.judge import quiet_session

    dataset = open_dataset(args.dataset)
    return list(judge_again(quiet_session(args.master), dataset, dict(checked.runs), _say))


def _machine_words(machine: Machine) -> list[str]:
    """What it is; clock and load were others at each run."""
    lasting = {name: value for name, value in machine.items() if name not in ("mhz", "load")}
    return [format_count(machine["cores"], "core"), *machine_words(cast("Machine", lasting))]


def _run_facts(place: str, run: CheckedRun) -> dict[str, Any]:
    return {
        "run": place,
        "engine": run.json["config"]["engine"],
        "xways": run.json["dataset"]["xways"],
        "state": run.json["state"],
        "verdict": run.verdict and run.verdict["verdict"],
        "has_digest": run.digest is not None,
    }


def text(result: dict[str, Any]) -> list[str]:
    """What was checked, line by line, and what is wrong with it."""
    rating = f", rating {result['rating']:g}" if "rating" in result else ""
    lines = [
        f"{result['kind']} {result['name']}{rating}   made by lrb {result['program']}",
        f"checksums     {result['files']} files, all as they were packed",
    ]
    lines += [
        f"run           {run['run']}: {run['engine']}, L = {run['xways']:g}, {run['state']}, "
        f"{run['verdict'] or 'not judged'}"
        for run in result["runs"]
    ]
    lines += [f"machine       {machine}" for machine in result["machines"]]
    if result["warning"]:
        lines += textwrap.wrap(f"note          {result['warning']}", WIDTH, subsequent_indent=" " * 14)
    lines += [f"judged again  {one['run']}: {one['result']}" for one in result["judged_again"]]
    if not result["faults"]:
        return [*lines, "consistency   its records agree with each other"]
    return [*lines, *(f"consistency   {fault}" for fault in result["faults"])]


def _say(what: str) -> None:
    print(f"verify: {what}", file=sys.stderr, flush=True)
