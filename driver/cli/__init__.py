"""`lrb`: each command is a module beside this one.

A command's module has SUMMARY (one sentence), EXAMPLES (two or three command lines, each with what it does),
`add_arguments(parser)` and `run(args) -> int`, the exit status; if that can be 3, FAILS says when.  What is slow to
import is imported inside `run`.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import sys
from importlib.metadata import version
from typing import Any

from driver.cli.variables import HELP as VARIABLES_HELP
from driver.dataset.expressways import check_length
from driver.run.limits import parse_limits
from polling_baseline.refusal import Refusal

COMMANDS = (
    "generate",
    "import",
    "export",
    "show",
    "load",
    "run",
    "feed",
    "validate",
    "expected",
    "digest",
    "report",
    "watch",
    "compare",
    "rate",
    "reproduce",
    "bundle",
    "verify",
    "board",
    "plan",
    "aurora",
    "query",
    "db",
    "cluster",
    "lesson",
    "demo",
)

# What is worth saying beside the result; it goes to stderr.
log = logging.getLogger("lrb")

EXIT_STATUS = "Exit status: 0 done, 1 wrong usage or bad input, 2 broke or was interrupted"
# Of the commands that judge; each says when.
FAIL_STATUS = 3
MOST_REPEATS = 99


class Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=110)


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        """Wrong usage exits with 1: 2 means that something broke."""
        self.print_usage(sys.stderr)
        self.exit(1, f"lrb: {message}; see {self.prog} --help\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """What a command does not know it refuses itself, with its own usage: nobody above knows it either."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown


def parse_length(text: str) -> float:
    """The type of an option that takes L."""
    try:
        return check_length(text)
    except Refusal as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None


def parse_limits_option(text: str) -> dict[str, float]:
    """The type of an option that takes limits."""
    try:
        return parse_limits(text)
    except Refusal as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None


def parse_repeat(text: str) -> int:
    """The type of --repeat."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST_REPEATS:
        raise argparse.ArgumentTypeError(f"a number from 1 to {MOST_REPEATS} is needed, not {text}")
    return int(text)


def add_limits_argument(parser: argparse.ArgumentParser, default: str, note: str = "") -> None:
    parser.add_argument(
        "--limits",
        type=parse_limits_option,
        metavar="LIMITS",
        help="how long answers may take: seconds for all kinds, toll=3,balance=7 with the others as specified, "
        f"specification or tibbetts (15, 15, 60, 90, 120 s){note} [{default}]",
    )


def add_server_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dsn",
        metavar="DSN",
        help="a PostgreSQL server, as a URL or key=value pairs; better leave the password to PGPASSWORD "
        "[what the PG* variables say, or else the embedded server]",
    )
    parser.add_argument(
        "--database",
        metavar="NAME",
        help="a database of its own on that server, for runs side by side; the embedded server makes it if need be "
        "[that of DSN, or postgres]",
    )


def module_of(command: str):  # type: ignore[no-untyped-def]
    # `import` is a keyword of Python, so its module has a longer name.
    return importlib.import_module(f"driver.cli.{'import_' if command == 'import' else command}")


def parser() -> Parser:
    top = Parser(
        prog="lrb",
        formatter_class=Help,
        description="Linear Road: what can a relational database do with a stream, and at what price?",
        epilog="lrb COMMAND --help teaches each command with examples.\n\n"
        + f"{EXIT_STATUS}, 3 judged as FAIL.\n\n{VARIABLES_HELP}",
    )
    top.add_argument("--version", action="version", version=f"lrb {version('linear-road')}")
    commands = top.add_subparsers(dest="verb", metavar="COMMAND", required=True, parser_class=Parser)
    for name in COMMANDS:
        module = module_of(name)
        summary = module.SUMMARY
        command = commands.add_parser(
            name,
            help=summary,
            formatter_class=Help,
            description=summary + "\n\n" + module.EXAMPLES.rstrip(),
            epilog=f"{EXIT_STATUS}{getattr(module, 'FAILS', '')}.",
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return top


def main(argv: list[str] | None = None) -> int:
    _show_log()
    try:
        args = parser().parse_args(argv)
        status = args.run(args)
        sys.stdout.flush()
        return int(status)
    except Refusal as refusal:
        print(f"lrb: {refusal}", file=sys.stderr)
        return 1
    except SystemExit as ending:
        # Wrong usage, or a request for help: all has been said.
        return int(ending.code or 0)
    except KeyboardInterrupt:
        print("lrb: interrupted", file=sys.stderr)
        _end_spark()
        return 2
    except BrokenPipeError:
        # The reader of a pipe went away (`lrb show road | head`): what it wanted, it has.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        from driver.cli.error_log import report_error

        print(f"lrb: {report_error(error, sys.argv[1:] if argv is None else argv)}", file=sys.stderr)
        return 2


def _end_spark() -> None:
    """At once, if it has been started."""
    if session := sys.modules.get("driver.spark.session"):
        session.close(in_haste=True)


class _Stderr(logging.Handler):
    """Each message on a line of its own, wherever stderr leads at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"lrb: {record.getMessage()}", file=sys.stderr, flush=True)


def _show_log() -> None:
    if not log.handlers:
        log.addHandler(_Stderr())
        log.setLevel(logging.INFO)
