"""The runs of a comparison: each system, at each L, as often as wanted; then the judge."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from driver.run.config import RunConfig
from driver.run.engines import Backends
from driver.run.limits import Limits
from polling_baseline.refusal import Refusal

FELL_BEHIND = ("late", "broken")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run: a system by its number, with options; `number` is that of the folder."""

    system: int
    config: RunConfig
    number: int

    def folder(self, out: Path, repetition: int, repeat: int) -> Path:
        return out / (f"{self.number}-{self.config.engine}" + (f"-{repetition}" if repeat > 1 else ""))


@dataclass(frozen=True, slots=True)
class Kind:
    """A system at one L, and the folders of its runs; the L of runs that were made before is not looked at."""

    system: int
    xways: float | None
    folders: list[Path] = field(default_factory=list)


def make_runs(plans: Sequence[Plan], backends: Backends, out: Path, repeat: int) -> list[Kind]:
    """A run of every plan, then the next of each: what the machine does meanwhile is shared by all.

    An interrupt ends it.  With --stop-when-late, a system that was late is not run with more expressways.
    """
    folders = {
        (plan.number, repetition): plan.folder(out, repetition, repeat)
        for plan in plans
        for repetition in range(1, repeat + 1)
    }
    if taken := [folder for folder in folders.values() if folder.exists()]:
        raise Refusal(f"{taken[0]} exists; choose another --out")
    kinds = {plan.number: Kind(plan.system, plan.config.open_dataset().xways) for plan in plans}
    behind: dict[int, float] = {}
    for number, (repetition, plan) in enumerate(((r, plan) for r in range(1, repeat + 1) for plan in plans), 1):
        kind, label = kinds[plan.number], _label(plan, repetition if repeat > 1 else None)
        if (kind.xways or 0.0) > behind.get(plan.system, float("inf")):
            _say(f"leaving out {label}: it was late at L = {behind[plan.system]:g}")
            continue
        _say(f"running {label}, {number} of {len(folders)}")
        kind.folders.append(folders[plan.number, repetition])
        state = run_one(plan.config, backends, kind.folders[-1])
        if state == "interrupted":
            break
        if state in FELL_BEHIND and plan.config.stop_when_late and kind.xways is not None:
            behind[plan.system] = min(kind.xways, behind.get(plan.system, kind.xways))
    return [kind for kind in kinds.values() if kind.folders]


def _label(plan: Plan, repetition: int | None) -> str:
    words = [plan.config.label]
    words += [] if plan.config.xways is None else [f"L = {plan.config.xways:g}"]
    return ", ".join([*words, *([] if repetition is None else [f"repetition {repetition}"])])


def run_one(config: RunConfig, backends: Backends, folder: Path) -> str:
    """Make a run, and give its state; one that breaks before it starts leaves a folder that says so."""
    from driver.run.loop import broken_run, measure
    from driver.run.record import write_run
    from polling_baseline.engine import EngineFailure

    dataset = config.open_dataset()
    try:
        return str(measure(config, dataset, backends, folder)["state"])
    except (Refusal, EngineFailure) as failure:
        _say(f"{config.label} broke: {failure}")
        folder.mkdir(parents=True, exist_ok=True)
        write_run(folder, broken_run(config, dataset, str(failure)))
        return "broken"


def judge_kinds(kinds: Sequence[Kind], limits: Limits | None, master: str) -> None:
    """Refuse what cannot be compared, judge what is not judged, and write the page of each run."""
    from driver.report.compare import check_comparable
    from driver.report.html.run import refresh_report
    from driver.run.recount import open_run_under

    for xways in dict.fromkeys(kind.xways for kind in kinds):
        folders = [folder for kind in kinds if kind.xways == xways for folder in kind.folders]
        check_comparable([open_run_under(folder, limits) for folder in folders])
        _judge(folders, master)
        for folder in folders:
            refresh_report(folder)


def _judge(folders: Sequence[Path], master: str) -> None:
    """Judge the runs that have answers and no verdict yet."""
    from driver.run.journal import OUTPUT
    from driver.run.record import open_run
    from driver.validate.judging import judge_runs

    runs = [open_run(folder) for folder in folders]
    unjudged = [run for run in runs if run.verdict is None and (run.folder / OUTPUT).exists()]
    if not unjudged:
        return
    dataset = unjudged[0].config.open_dataset()
    if dataset.identity != unjudged[0].json["dataset"]["identity"]:
        raise Refusal(f"{dataset.path} is not the data of {unjudged[0].folder} any more, so it cannot be judged")
    judge_runs(dataset, [run.folder for run in unjudged], master, _say)


def _say(what: str) -> None:
    print(f"compare: {what}", file=sys.stderr)
