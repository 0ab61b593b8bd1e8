"""`lrb db`: the embedded PostgreSQL, and a look at any other."""

from __future__ import annotations

import argparse
import os

from driver.cli import Help
from polling_baseline.database import server
from polling_baseline.database.binaries import find_psql
from polling_baseline.database.connection import WHERE_VARIABLES, Target, add_dsn_argument, find_target, given_target
from polling_baseline.database.settings import DURABILITIES, durability_of, profile, read_settings
from polling_baseline.database.state import home
from polling_baseline.refusal import Refusal

SUMMARY = "Start, stop or inspect the embedded PostgreSQL, or open its shell."
EXAMPLES = """\
  lrb db start                            start it if it does not run; other commands do that by themselves
  lrb db start --durability on            the same data, with recovery logging and fsync
  lrb db status                           where it is, how it is set; exit status 1 if it does not run
  lrb db shell -- -c 'SELECT version()'   psql, with psql's own options after --
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def action(name: str, text: str) -> argparse.ArgumentParser:
        return actions.add_parser(name, help=text, description=text, formatter_class=Help)

    start = action("start", "start the embedded PostgreSQL; harmless if it runs")
    start.add_argument("--durability", choices=DURABILITIES, help="recovery logging [off, or as it runs]")
    start.add_argument(
        "--port", type=_port, metavar="N", help="listen on 127.0.0.1:N too, with a password [socket only]"
    )
    action("stop", "stop the embedded PostgreSQL; the data stay")
    add_dsn_argument(action("status", "say what runs, where and how it is set; exit status 1 if it does not run"))
    shell = action("shell", "open psql; the embedded PostgreSQL is started if need be")
    add_dsn_argument(shell)
    shell.add_argument("psql", nargs="*", metavar="-- ...", help="options for psql")


def run(args: argparse.Namespace) -> int:
    return {"start": _start, "stop": _stop, "status": _status, "shell": _shell}[args.action](args)


def _port(text: str) -> int:
    if text.isdecimal() and 1024 <= int(text) <= 65535:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text} is no port between 1024 and 65535")


def _start(args: argparse.Namespace) -> int:
    _describe(server.ensure_running(args.durability, args.port))
    if named := [name for name in WHERE_VARIABLES if os.environ.get(name)]:
        print(f"note        {named[0]} is set, so other commands use the server that it names")
    return 0


def _stop(_args: argparse.Namespace) -> int:
    print("stopped" if server.stop() else "not running")
    return 0


def _status(args: argparse.Namespace) -> int:
    if target := given_target(args.dsn):
        _describe_target(target, target.label)
    elif running := server.status():
        _describe(running)
    else:
        print(f'not running; start it with "lrb db start"\ndata        {home().data}')
        return 1
    return 0


def _describe(running: server.Server) -> None:
    _describe_target(running.target, f"socket {running.socket_folder}")
    print(f"data        {running.home.data}")
    print(f"log         {running.home.log}")
    if running.port:
        print(f"loopback    127.0.0.1:{running.port}, user postgres, password in {running.home.password}")


def _describe_target(target: Target, where: str) -> None:
    connection = target.connect()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('server_version'), pg_database_size(current_database())")
            [(version, size)] = cursor.fetchall()
        settings = read_settings(connection)
    finally:
        connection.close()
    durability = durability_of(settings)
    print(f"running     PostgreSQL {version.split()[0]}, {where}")
    print(f"settings    durability {durability}, {_difference(settings, profile(durability))}")
    print(f"size        {size / 1e6:,.1f} MB")


def _difference(settings: dict[str, str], wanted: dict[str, str]) -> str:
    others = [f"{name} {settings[name]} ({value})" for name, value in wanted.items() if settings[name] != value]
    return "not as in the profile (in brackets): " + ", ".join(others) if others else "all as in the profile"


def _shell(args: argparse.Namespace) -> int:
    psql = find_psql()
    if psql is None:
        raise Refusal("psql is not here; install the package postgresql-client of your system")
    text, secrets = find_target(args.dsn).psql
    os.execve(psql, [str(psql), text, *args.psql], {**os.environ, **secrets})
