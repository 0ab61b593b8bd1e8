"""The options of a run that say how an engine is run, and which part of a data set it gets."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from driver.cli import add_server_arguments, parse_length
from driver.dataset.ignore import REQUESTS, parse_kinds
from driver.run.config import (
    CLOCKS,
    DESIGN_OPTIONS,
    ENGINE_OPTIONS,
    GRANULARITIES,
    HISTORY_FORMS,
    MARKS,
    ORDERS,
    SHEDDING,
)
from polling_baseline.database.designs import DESIGNS
from polling_baseline.database.settings import DURABILITIES

# How an engine is run, whatever the command that runs it: each option with argparse's words for it.
ENGINE_ARGUMENTS: dict[str, dict[str, Any]] = {
    "--period": {"type": float, "metavar": "SECONDS", "help": "time between two polling cycles, 0.1 to 29 [1]"},
    "--catch-up": {
        "choices": ("on", "off"),
        "help": "whether a cycle that is late takes all seconds that wait, or one as in the paper [on]",
    },
    "--ignore": {
        "metavar": "KIND,...",
        "help": f"requests that are left out and not judged: {', '.join(REQUESTS)} [none]",
    },
    "--slower": {"type": float, "metavar": "F", "help": "on the virtual clock, the engine takes F times as long [1]"},
    "--workers": {
        "type": int,
        "metavar": "N",
        "help": "connections that share the expressways; threads of engine duckdb [cores]",
    },
    "--durability": {"choices": DURABILITIES, "help": "recovery logging [off]"},
    "--design": {
        "choices": DESIGNS,
        "help": "of engine polling: tables and procedures, from what the paper tells to our fastest [ring]",
    },
    "--indexes": {"choices": DESIGN_OPTIONS["indexes"], "help": "of designs 2004, cursor and subquery [on]"},
    "--keep": {
        "choices": DESIGN_OPTIONS["keep"],
        "help": "of designs 2004, cursor and subquery: position reports of the whole run, or of five minutes [run]",
    },
    "--granularity": {
        "choices": GRANULARITIES,
        "help": "of engine trigger: an INSERT per tuple and a row trigger, a COPY and a row trigger, "
        "or a COPY and a statement trigger [row]",
    },
    "--shed": {"choices": SHEDDING, "help": "of engine aurora: what to drop when it is too late [none]"},
    "--headroom": {
        "type": float,
        "metavar": "H",
        "help": "of engine aurora: the share of its time that it may be busy before it sheds load [0.9]",
    },
    "--qos": {
        "type": lambda text: Path(text).absolute(),
        "metavar": "FILE",
        "help": "of engine aurora: graphs of quality of service, as JSON; docs/aurora.md shows one [the benchmark's]",
    },
    "--order": {
        "choices": ORDERS,
        "help": "of engine aurora: push a train on as far as it goes, or run one box at a time, as in the paper "
        "[superbox]",
    },
    "--command": {"metavar": "COMMAND", "help": "of engine exec: the program to start, with its arguments"},
    "--listen": {"metavar": "HOST:PORT", "help": "of engine tcp: wait there for the system to connect"},
    "--connect": {"metavar": "HOST:PORT", "help": "of engine tcp: connect to the system there"},
    "--marks": {"choices": MARKS, "help": "of engines exec and tcp: a line after each second, to be echoed [on]"},
    "--history": {"choices": HISTORY_FORMS, "help": "of engines exec and tcp: the form of the history [csv]"},
    "--patience": {"metavar": "S", "help": "of engines exec and tcp: how long the system may be silent [60]"},
    "--shards": {
        "type": int,
        "metavar": "N",
        "help": "of engine structured_streaming: parts that share the vehicles [cores]",
    },
    "--warm-up": {
        "type": int,
        "metavar": "S",
        "help": "of engine structured_streaming: seconds of made-up input before the clock starts, as Java is slow at "
        "first [30; 5 for the next runs of one command]",
    },
    "--checkpoint": {
        "metavar": "DIR",
        "help": "of engine structured_streaming: where Spark keeps its state; all workers must see it "
        "[memory, or the state folder with --durability on]",
    },
    "--train-size": {"type": int, "metavar": "N", "help": "of engine aurora: tuples per train [50000]"},
}
# Their values have commas of their own; a comparison gives them to all of its runs.
LISTS = ("--ignore", "--command")
# Which part of a data set is run, and on which clock.
PART_ARGUMENTS: dict[str, dict[str, Any]] = {
    "--clock": {"choices": CLOCKS, "help": "wait for each second, or skip waiting [real]"},
    "--xways": {
        "type": parse_length,
        "metavar": "L",
        "help": "as so many expressways, copies if need be [as in DATASET]",
    },
    "--from-minute": {"type": int, "metavar": "A", "help": "leave out what comes before minute A [1]"},
    "--to-minute": {"type": int, "metavar": "B", "help": "leave out what comes after minute B [the last]"},
}


def add_engine_arguments(parser: argparse.ArgumentParser) -> None:
    for option, words in ENGINE_ARGUMENTS.items():
        parser.add_argument(option, **words)
    parser.add_argument(
        "--master", default="local[*]", help="the Spark that loads the history, or is the engine [local[*]]"
    )
    add_server_arguments(parser)


def engine_options(args: argparse.Namespace) -> dict[str, Any]:
    """What the arguments of `add_engine_arguments` say, by the names of RunConfig."""
    own = {name: getattr(args, name) for names in ENGINE_OPTIONS.values() for name in names}
    return {
        "period_s": args.period,
        "workers": args.workers,
        "durability": args.durability,
        "catch_up": None if args.catch_up is None else args.catch_up == "on",
        "ignore": None if args.ignore is None else parse_kinds(args.ignore),
        "slower": args.slower,
        "clock": args.clock,
        "engine_options": own,
    }
