"""Make a data set from a seed: the traffic of every direction, then both histories, in Spark tasks.

The same seed gives the same bytes whatever runs at the same time, and an expressway is the same in a larger data set.
"""

from __future__ import annotations

import math
import shutil
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from driver.dataset.expressways import check_length
from driver.dataset.folder import Dataset, describe, new_folder, open_dataset
from driver.generate.history import PROGRESS, generate_history
from driver.generate.traffic.model import Demand, Model
from driver.generate.traffic.simulate import first_id, merge, simulate, simulate_to
from driver.progress import Advance, progress
from driver.spark.session import close, session
from driver.spark.units import for_each
from polling_baseline import spec
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTS = ".parts"
EXIT_REPORTS = ("most", "all")


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """What to make."""

    xways: float
    minutes: int = spec.RUN_SECONDS // spec.MINUTE_S
    seed: int = 42
    history_days: int = spec.HISTORY_DAYS
    # Whether every trip ends with a report from the exit lane, as in the paper, or most do, as in recorded data.
    exit_reports: str = EXIT_REPORTS[0]

    def __post_init__(self) -> None:
        most_minutes = spec.RUN_SECONDS // spec.MINUTE_S
        check_length(self.xways)
        if not 1 <= self.minutes <= most_minutes:
            raise Refusal(f"--minutes {self.minutes}: a run has 1 to {most_minutes} minutes")
        if not 0 <= self.seed < 2**63:
            raise Refusal(f"--seed {self.seed}: a seed is a number from 0 to 2^63 - 1")
        if not 0 <= self.history_days <= spec.HISTORY_DAYS:
            raise Refusal(f"--history-days {self.history_days}: from 1 to {spec.HISTORY_DAYS}, or 0 for no history")

    @property
    def model(self) -> Model:
        return Model(demand=Demand(silent_share=0.0)) if self.exit_reports == "all" else Model()

    @property
    def directions(self) -> list[tuple[int, int]]:
        """Each expressway and direction; half an expressway is its eastbound one."""
        whole = [(xway, direction) for xway in range(math.ceil(self.xways)) for direction in (spec.EAST, spec.WEST)]
        return whole[: int(2 * self.xways)]


@dataclass(frozen=True, slots=True)
class Direction:
    """One task: simulate a direction and, if the other one is done, put the expressway together."""

    folder: Path
    xway: int
    direction: int
    of: int  # how many directions the expressway has
    seed: int
    seconds: int
    model: Model = Model()  # noqa: RUF009 - an immutable value

    def part(self, direction: int) -> Path:
        return self.folder / PARTS / f"{self.xway}-{direction}"


def generate(options: GenerateOptions, out: Path, force: bool, master: str) -> None:
    """Write the data set `out`; an interrupted or failed attempt leaves nothing behind."""
    with new_folder(out, force) as folder:
        steps = len(options.directions) * options.minutes + 2 * math.ceil(options.xways) * options.history_days
        try:
            spark = _ready(master)
            with progress("generate", steps) as advance:
                counts = _generate(spark, options, folder, advance)
        except BaseException:
            # The folder is about to vanish: no task may go on writing to it.
            close(in_haste=True)
            raise
        made_by: dict[str, object] = {"command": "generate", "history_days": options.history_days}
        if options.exit_reports != EXIT_REPORTS[0]:
            made_by["exit_reports"] = options.exit_reports
        seconds = options.minutes * spec.MINUTE_S
        describe(folder, xways=options.xways, seconds=seconds, seed=options.seed, counts=counts, options=made_by)


def generated(options: GenerateOptions, out: Path, master: str) -> Dataset:
    """The data set `out` if it is the one that the options describe, else a new one in its place if there is none."""
    if not out.exists():
        generate(options, out, False, master)
    dataset = open_dataset(out)
    history_days = int(str(dataset.options.get("history_days")))
    exit_reports = str(dataset.options.get("exit_reports", EXIT_REPORTS[0]))
    minutes = dataset.seconds // spec.MINUTE_S
    if GenerateOptions(dataset.xways, minutes, dataset.seed or 0, history_days, exit_reports) != options:
        raise Refusal(f"{out} has other traffic than is wanted now; choose another --out, or remove it")
    return dataset


def _ready(master: str) -> SparkSession:
    """Spark, started while the kernel is compiled, if it has to be: once here, and not in each of the first tasks."""
    compiling = threading.Thread(target=lambda: next(simulate(0, 0, spec.EAST, spec.MINUTE_S)), daemon=True)
    compiling.start()
    spark = session(master)
    compiling.join()
    return spark


def _generate(spark: SparkSession, options: GenerateOptions, folder: Path, advance: Advance) -> dict[str, int]:
    (folder / PARTS).mkdir()
    directions_of = Counter(xway for xway, _ in options.directions)
    seconds = options.minutes * spec.MINUTE_S
    units = [
        Direction(folder, xway, direction, directions_of[xway], options.seed, seconds, options.model)
        for xway, direction in options.directions
    ]
    results = for_each(spark, units, simulate_direction, folder / PROGRESS, advance)
    shutil.rmtree(folder / PARTS)
    counts: Counter[str] = Counter()
    vehicles: dict[int, list[tuple[int, int]]] = {}
    for unit, (vehicle_count, merged) in zip(units, results, strict=True):
        vehicles.setdefault(unit.xway, []).append((first_id(unit.xway, unit.direction), vehicle_count))
        counts.update(merged)
    history = generate_history(spark, folder, options.seed, options.xways, vehicles, options.history_days, advance)
    every_vehicle = sum(vehicle_count for vehicle_count, _ in results)
    return {**counts, "vehicles": every_vehicle, **history, "rejects": 0}


def simulate_direction(unit: Direction, progress_path: Path) -> tuple[int, dict[str, int]]:
    """The number of vehicles; and, from the task that put the expressway together, how many reports and requests."""
    part = unit.part(unit.direction)
    unfinished = part.with_suffix(".unfinished")
    vehicles = simulate_to(unfinished, unit.seed, unit.xway, unit.direction, unit.seconds, progress_path, unit.model)
    unfinished.rename(part)
    parts = [unit.part(direction) for direction in range(unit.of)]
    if not all(path.exists() for path in parts) or not _is_mine(part.with_name(f"{unit.xway}-merge"), unit.direction):
        return vehicles, {}
    counts = merge(unit.folder, unit.xway, parts)
    for path in parts:
        path.unlink()
    return vehicles, counts


def _is_mine(claim: Path, direction: int) -> bool:
    """True for one direction only, also if its task is tried again."""
    try:
        with claim.open("x") as file:
            file.write(str(direction))
        return True
    except FileExistsError:
        return claim.read_text() == str(direction)
