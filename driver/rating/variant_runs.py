"""The runs of a reproduction: each variant at each scale factor, with its verdict.

A run stays in the folder; one that is complete is not made again.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from driver.dataset.folder import Dataset
from driver.rating.paper import BRIEF, SCALE_FACTORS, VARIANTS, Variant
from driver.rating.rating import Announce, timed_run
from driver.report.html.run import refresh_report
from driver.run.config import RunConfig
from driver.run.engines import Backends
from driver.run.limits import Limits, limits_in_force
from driver.run.record import config_of, open_run, read_run
from polling_baseline.engine import EngineFailure

ConfigFor = Callable[[Variant, float, float], RunConfig]
JUDGING = "judging"
# Seconds for three hours of an expressway on 2 cores: how much longer than others something takes, until it is known.
USUAL_S_PER_XWAY = MappingProxyType(
    {"2004": 540, "2004-unindexed": 1800, "subquery": 1000, "ring": 300, "trigger": 650}
    | {"duckdb": 170, "box": 15, "superbox": 15, "exec": 300, "tcp": 300}
    | {"structured_streaming": 1200, JUDGING: 40}
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run, and where; `config_for` gives the options of a variant at a scale factor, so much slower."""

    folder: Path
    dataset: Dataset
    config_for: ConfigFor
    backends: Backends
    announce: Announce
    variants: Sequence[Variant] = VARIANTS
    brief: bool = False
    # Those that differ from the specification's.
    limits: Limits = field(default_factory=dict)

    @property
    def limit_s(self) -> float:
        """The answers to one second come together, so the shortest limit of all that are given decides."""
        ignored = self.config_for(self.variants[0], SCALE_FACTORS[0], 1.0).ignore
        return min(limit for kind, limit in limits_in_force(self.limits).items() if kind not in ignored)

    def scale_factors(self, variant: Variant) -> tuple[float, ...]:
        """Those that are run."""
        if self.brief:
            return (BRIEF.get(variant.name, variant.system.fails_at),)
        return variant.run_at or tuple(variant.system.max_response_s)

    def confirms(self, variant: Variant) -> bool:
        """Whether a run with `--slower` shows what the factor makes of it."""
        return not self.brief and not variant.run_at

    def path(self, variant: Variant, xways: float, slower: bool = False) -> Path:
        return self.folder / "runs" / f"{variant.name}-L{xways:g}{'-slower' if slower else ''}"


class Work:
    """What is left to do, and how long that will take, by what each variant took per expressway so far."""

    def __init__(self, tasks: Iterable[tuple[str, float]], announce: Announce) -> None:
        self._left, self._announce = list(tasks), announce
        self._s_per_xway: dict[str, float] = {}

    def left_s(self) -> float | None:
        """What was not done yet takes its usual time on a machine as slow as it was for the rest; None before that."""
        if not self._s_per_xway:
            return None
        slower = sum(self._s_per_xway.values()) / sum(USUAL_S_PER_XWAY[name] for name in self._s_per_xway)
        s_per_xway = {name: usual * slower for name, usual in USUAL_S_PER_XWAY.items()} | self._s_per_xway
        return sum(xways * s_per_xway[name] for name, xways in self._left)

    def begin(self, what: str) -> None:
        left_s = self.left_s()
        self._announce(what if left_s is None else f"{what}; about {left_s / 60:.0f} min left")

    def end(self, name: str, xways: float, took_s: float | None) -> None:
        """Nobody knows what a run took that was not made now and does not say so."""
        self._left.remove((name, xways))
        if took_s:
            self._s_per_xway[name] = took_s / xways

    def take_over(self, what: str, name: str, xways: float, took_s: float | None) -> None:
        self.end(name, xways, took_s)
        self._announce(f"{what}: taken over")


def make_runs(plan: Plan) -> Work:
    """All runs by rising scale factor; those of one are judged together, so that the reference is computed once.

    What is left to do then are the runs with `--slower`.
    """
    wanted = [
        (xways, variant) for xways in SCALE_FACTORS for variant in plan.variants if xways in plan.scale_factors(variant)
    ]
    scale_factors = sorted({xways for xways, _ in wanted})
    tasks = [(variant.name, xways) for xways, variant in wanted] + [(JUDGING, xways) for xways in scale_factors]
    for variant in filter(plan.confirms, plan.variants):
        tasks += [(name, variant.system.fails_at) for name in (variant.name, JUDGING)]
    work = Work(tasks, plan.announce)
    for xways in scale_factors:
        variants = [variant for factor, variant in wanted if factor == xways]
        for variant in variants:
            run_variant(plan, variant, xways, work)
        judge(plan, xways, [plan.path(variant, xways) for variant in variants], work)
    return work


def run_variant(plan: Plan, variant: Variant, xways: float, work: Work, slower: float = 1.0) -> Path:
    """The complete run of one variant at one scale factor."""
    path = plan.path(variant, xways, slower != 1)
    name = f"{variant.name} at L = {xways:g}" + (f", {slower:.1f} times slower" if slower != 1 else "")
    config = plan.config_for(variant, xways, slower)
    if (path / "run.json").exists():
        before = read_run(path)
        if before["state"] == "complete" and config_of(before).slower == slower:
            work.take_over(name, variant.name, xways, before.get("took_s"))
            return path
    shutil.rmtree(path, ignore_errors=True)
    work.begin(name)
    record = timed_run(config, plan.dataset, plan.backends, path, name, plan.announce)
    if record["state"] != "complete":
        raise EngineFailure(f"{name}: {record['reason']}")
    work.end(variant.name, xways, record["took_s"])
    return path


def judge(plan: Plan, xways: float, folders: Sequence[Path], work: Work) -> None:
    """Ask the reference about runs of one scale factor that have no verdict yet."""
    from driver.validate.judging import judge_runs

    begun = time.monotonic()
    unjudged = [folder for folder in folders if open_run(folder).verdict is None]
    if unjudged:
        dataset = open_run(unjudged[0]).config.part_of(plan.dataset)
        judge_runs(dataset, unjudged, plan.backends.master, work.begin)
        for folder in unjudged:
            refresh_report(folder)
    work.end(JUDGING, xways, time.monotonic() - begun if unjudged else None)
