"""The options of a run: names, defaults, limits.  A command line only fills them in."""

from __future__ import annotations

import math
import os
import shlex
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from driver.dataset.folder import Dataset, open_dataset
from driver.dataset.ignore import without_requests
from driver.dataset.relabel import relabelled
from polling_baseline import spec
from polling_baseline.database.designs import DEFAULT_DESIGN, DESIGNS, find_design
from polling_baseline.database.settings import DURABILITIES, OFF, Durability
from polling_baseline.refusal import Refusal

CLOCKS = ("real", "virtual")
DEFAULT_ENGINE = "polling"
SHORTEST_PERIOD_S, LONGEST_PERIOD_S = 0.1, 29.0
MOST_WORKERS = 64
# What fires the trigger engine's rules: each INSERT, each row of a second's COPY, or that COPY as a whole.
GRANULARITIES = ("row", "copy", "statement")
# These keep each vehicle in one place, and so have one worker.
BY_ROW = ("row", "copy")
# The engines whose state can outlive a crash.
DURABLE = ("polling", "trigger", "duckdb", "structured_streaming")
# What engine aurora drops when it is too late: nothing, vehicles at random, the reports worth least.
SHEDDING = ("none", "random", "semantic")
# In which order engine aurora runs its boxes: a train is pushed on as far as it goes, or one box at a time.
ORDERS = ("superbox", "box")
# Systems that others wrote.
FOREIGN = ("exec", "tcp")
# The one whose start takes so long that a comparison has it only if it is named.
SLOW_TO_START = ("structured_streaming",)
MOST_SHARDS, MOST_WARM_UP_S = 1000, 600
# Whether a foreign system is told where a second ends, and in which form it gets the history.
MARKS, HISTORY_FORMS = ("on", "off"), ("csv", "parquet")
NAMES_A_SYSTEM = ("command", "listen", "connect")
_OF_A_FOREIGN_SYSTEM = {"marks": "on", "history": "csv", "patience": "60"}
# The options that only some engines have, with the default that a run states; those of a design have their own.
ENGINE_OPTIONS: Mapping[str, Mapping[str, str | None]] = MappingProxyType(
    {
        "polling": {"design": DEFAULT_DESIGN, "indexes": None, "keep": None},
        "trigger": {"granularity": "row"},
        "duckdb": {},
        "sqlite": {},
        "aurora": {"shed": None, "train_size": None, "order": None, "headroom": None, "qos": None},
        "structured_streaming": {"shards": None, "checkpoint": None, "warm_up": None},
        "exec": {"command": None, **_OF_A_FOREIGN_SYSTEM},
        "tcp": {"listen": None, "connect": None, **_OF_A_FOREIGN_SYSTEM},
    }
)
# The options of some design of System X, with all values.
DESIGN_OPTIONS = {name: values for design in DESIGNS.values() for name, values in design.options.items()}


@dataclass(frozen=True, slots=True)
class RunConfig:
    """All options of a run: the same options give the same run."""

    dataset: str
    engine: str = DEFAULT_ENGINE
    clock: str = "real"
    period_s: float = 1.0
    workers: int = 1
    durability: str = OFF.name
    from_minute: int = 1
    to_minute: int = spec.RUN_SECONDS // spec.MINUTE_S
    # What only this engine knows, by the option's name.
    engine_options: Mapping[str, str] = field(default_factory=dict)
    # The data set as so many expressways, if not as it is.
    xways: float | None = None
    # Whether a cycle that is behind takes all seconds that wait, or one as always.
    catch_up: bool = True
    # The kinds of request that the engine does not get.
    ignore: Sequence[str] = ()
    # On the virtual clock, the engine takes so many times as long.
    slower: float = 1.0
    # A rating has seen enough of a run with its first late answer.
    stop_when_late: bool = False
    # Of a run that begins in mid-road: the seconds in which every car is new, while the virtual clock waits for each.
    warm_up_s: int = 0
    # Response times allowed, by kind of answer, where they are not the specification's.
    limits: Mapping[str, float] = field(default_factory=dict)

    @property
    def profile(self) -> Durability:
        """What the word `durability` stands for."""
        if self.durability not in DURABILITIES:
            raise Refusal(f"--durability must be {' or '.join(DURABILITIES)}, not {self.durability}")
        return DURABILITIES[self.durability]

    @property
    def label(self) -> str:
        """The engine, and its design where that is not the default one; of a foreign system, its name."""
        if self.engine in FOREIGN:
            system = next(self.engine_options[name] for name in NAMES_A_SYSTEM if name in self.engine_options)
            return f"{self.engine} {_short(system)}"
        design = self.engine_options.get("design", DEFAULT_DESIGN)
        usual = {"design": DEFAULT_DESIGN, **default_options(design)}
        own = [f"{name} {value}" for name, value in self.engine_options.items() if usual.get(name, value) != value]
        return ", ".join([self.engine, *own])

    @property
    def seconds(self) -> range:
        return range((self.from_minute - 1) * spec.MINUTE_S, self.to_minute * spec.MINUTE_S)

    def open_dataset(self) -> Dataset:
        """What this is a run of."""
        return self.part_of(open_dataset(Path(self.dataset)))

    def part_of(self, dataset: Dataset) -> Dataset:
        """The data set as the run sees it: its expressways, its kinds of request."""
        return without_requests(relabelled(dataset, self.xways), self.ignore)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


OPTIONS = tuple(option.name for option in fields(RunConfig))


def configure(like: Mapping[str, Any] = MappingProxyType({}), **options: Any) -> RunConfig:
    """The options given, else those of the run to repeat, else the defaults; an option that is None is not given.

    Refuses what cannot be run.
    """
    given = {name: value for name, value in options.items() if value is not None}
    chosen: dict[str, Any] = {"workers": os.cpu_count() or 1, **like, **given}
    if "dataset" not in chosen:
        raise Refusal("name a data set, or an earlier run with --like; lrb generate makes a data set")
    chosen["engine_options"] = _engine_options(like, given)
    if only_one := _one_connection(chosen.get("engine"), chosen["engine_options"]):
        if given.get("workers", 1) > 1:
            raise Refusal(only_one)
        chosen["workers"] = 1
    _refuse_durability(chosen)
    _check_foreign(chosen)
    dataset = RunConfig(chosen["dataset"], xways=chosen.get("xways")).open_dataset()
    minutes = dataset.seconds // spec.MINUTE_S
    # A worker without an expressway would have nothing to do.
    workers = _checked_workers(chosen["workers"], len(dataset.traffic))
    config = RunConfig(**{"to_minute": minutes, **chosen, "workers": workers})
    if not dataset.traffic:
        raise Refusal(f"{dataset.path} has no traffic to run")
    if not 1 <= config.from_minute <= config.to_minute <= minutes:
        raise Refusal(
            f"minutes {config.from_minute} to {config.to_minute} are not in {dataset.path}: it has 1 to {minutes}"
        )
    if not SHORTEST_PERIOD_S <= config.period_s <= LONGEST_PERIOD_S:
        raise Refusal(
            f"--period must be {SHORTEST_PERIOD_S:g} to {LONGEST_PERIOD_S:g} seconds, not {config.period_s:g}"
        )
    if not config.slower >= 1 or math.isinf(config.slower):
        raise Refusal(f"--slower must be a number from 1 on, not {config.slower:g}")
    if config.slower > 1 and config.clock != "virtual":
        raise Refusal("--slower needs --clock virtual: on the real clock an engine takes the time that it takes")
    return config


def _short(command: str) -> str:
    """A command without the folders of its files."""
    return " ".join(Path(word).name or word for word in shlex.split(command))


def _checked_workers(workers: int, expressways: int) -> int:
    if not 1 <= workers <= MOST_WORKERS:
        raise Refusal(f"--workers must be 1 to {MOST_WORKERS}, not {workers}")
    return min(workers, max(1, expressways))


def _refuse_durability(chosen: Mapping[str, Any]) -> None:
    if chosen.get("engine") in FOREIGN and chosen.get("durability", OFF.name) != OFF.name:
        raise Refusal(f"what a foreign system keeps is its own affair: take --durability {OFF}")
    if chosen.get("engine") == "sqlite" and chosen.get("durability", OFF.name) != OFF.name:
        raise Refusal(
            "engine sqlite keeps its tables in memory and logs nothing: "
            f"take --durability {OFF}, or --engine {' or '.join(DURABLE)}"
        )


def _check_foreign(chosen: Mapping[str, Any]) -> None:
    """A system that others wrote must be named, and on the virtual clock it must say when it is done."""
    engine, options = chosen.get("engine"), chosen["engine_options"]
    if engine == "exec" and "command" not in options:
        raise Refusal("engine exec needs --command, the program that it starts, as in --command './my_system --fast'")
    if engine == "tcp" and ("listen" in options) == ("connect" in options):
        raise Refusal(
            "engine tcp needs --listen HOST:PORT, where a system connects to, or --connect HOST:PORT, where it listens"
        )
    if "patience" in options:
        _check_patience(options["patience"])
    if options.get("marks") == "off" and chosen.get("clock", "real") != "real":
        raise Refusal("--marks off needs --clock real: the virtual clock must see when a system is done with a second")


def _check_patience(text: str) -> None:
    try:
        patience_s = float(text)
    except ValueError:
        patience_s = 0.0
    if not 0 < patience_s < threading.TIMEOUT_MAX:
        raise Refusal(f"--patience must be a number of seconds above 0, not {text}")


def _one_connection(engine: str | None, options: Mapping[str, str]) -> str | None:
    """Why this engine with these options allows one worker only, and what to do; None if several are allowed."""
    if engine in FOREIGN:
        return f"engine {engine} is one system, and shares out its work itself: leave out --workers"
    if engine == "structured_streaming":
        return "engine structured_streaming has shards for workers: leave out --workers, and give --shards"
    if engine == "sqlite":
        return "engine sqlite runs on one connection: leave out --workers, or take --engine polling"
    if options.get("granularity") in BY_ROW:
        return "a row trigger runs on one connection: leave out --workers, or add --granularity statement"
    design = options.get("design", DEFAULT_DESIGN)
    if not find_design(design).shares_work:
        return f"design {design} runs on one connection: leave out --workers, or take --design {DEFAULT_DESIGN}"
    return None


def default_options(design: str) -> dict[str, str]:
    """What a design does unless it is told otherwise."""
    return {name: values[0] for name, values in find_design(design).options.items()}


def _engine_options(like: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, str]:
    """What only this engine knows, by the option's name: as given, else as in the run to repeat, else its default."""
    engine = given.get("engine") or like.get("engine", DEFAULT_ENGINE)
    own = {name: str(value) for name, value in given.get("engine_options", {}).items() if value is not None}
    mine = ENGINE_OPTIONS.get(engine, {})
    for owner, names in ENGINE_OPTIONS.items():
        if owner != engine and (others := [name for name in names if name in own and name not in mine]):
            option = others[0].replace("_", "-")
            raise Refusal(f"--{option} is an option of --engine {owner}; engine {engine} has none such")
    if int(own.get("train_size", 1)) < 1:
        raise Refusal(f"--train-size must be 1 or more, not {own['train_size']}")
    if not 0 < float(own.get("headroom", 1)) <= 1:
        raise Refusal(f"--headroom must be above 0 and at most 1, not {own['headroom']}")
    _check_range("shards", own, 1, MOST_SHARDS)
    _check_range("warm_up", own, 0, MOST_WARM_UP_S)
    before = like.get("engine_options", {}) if like.get("engine") == engine else {}
    defaults = {name: value for name, value in mine.items() if value}
    if own.keys() & set(NAMES_A_SYSTEM):
        before = {name: value for name, value in before.items() if name not in NAMES_A_SYSTEM}
    chosen = {**defaults, **before, **own}
    return _with_design(chosen, own) if engine == "polling" else chosen


def _check_range(name: str, own: Mapping[str, str], least: int, most: int) -> None:
    if name in own and not least <= int(own[name]) <= most:
        raise Refusal(f"--{name.replace('_', '-')} must be {least} to {most}, not {own[name]}")


def _with_design(chosen: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """The design, and a value for each of its options; refuse one of `own` that it does not have."""
    design = chosen["design"]
    usual = default_options(design)
    for name in DESIGN_OPTIONS:
        if name in own and name not in usual:
            owners = ", ".join(owner for owner in DESIGNS if name in DESIGNS[owner].options)
            raise Refusal(f"design {design} has no option --{name}; leave it out, or take a design that has: {owners}")
    return {"design": design, **{name: chosen.get(name, value) for name, value in usual.items()}}
