"""`lrb db`: the embedded PostgreSQL, and a look at any other."""

from __future__ import annotations

import argparse
import os
import re

from driver.cli import Help, add_server_arguments
from polling_baseline.database.claim import holder
from polling_baseline.database.connection import WHERE_VARIABLES, Target, find_target, given_target
from polling_baseline.database.embedded import server
from polling_baseline.database.embedded.binaries import find_psql
from polling_baseline.database.embedded.server_home import home
from polling_baseline.database.roles import DRIVER, OWNER, PASSWORD_VARIABLE, make_roles, missing_statements
from polling_baseline.database.session import execute, with_safe_path
from polling_baseline.database.settings import (
    DURABILITIES,
    OFF,
    PROFILE_MEMORY,
    RESTART,
    Durability,
    alter_system,
    differences,
    durability_of,
    files_stay_whole,
    read_settings,
)
from polling_baseline.refusal import Refusal

SUMMARY = "Start, stop or inspect the embedded PostgreSQL, open its shell, or set up the roles of a run."
EXAMPLES = """\
  lrb db start                            start it if it does not run; other commands do that by themselves
  lrb db start --durability on            the same data, with recovery logging and fsync
  lrb db start --memory 512MB             as on a machine with so little memory; runs that follow have it so, too
  lrb db status                           where it is, how it is set; exit status 1 if it does not run
  lrb db shell -- -c 'SELECT version()'   psql, with psql's own options after --
  lrb db roles --dsn DSN                  the statements that an administrator of that server must run, for psql
  lrb db settings --dsn DSN               those that give that server the settings of the embedded one
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
    start.add_argument(
        "--memory",
        type=_memory,
        metavar="SIZE",
        help="hold so much of the data (64MB, 1GB) and read the rest from the disk, past the system's cache, until it "
        "is stopped; profile for the usual [profile, or as it runs]",
    )
    action("stop", "stop the embedded PostgreSQL; the data stay")
    add_server_arguments(action("status", "say what runs, where and how it is set; exit status 1 if it does not run"))
    add_server_arguments(
        action("roles", "make the roles lr_owner and lr_driver; for another server, print the statements that do it")
    )
    settings = action("settings", "print the statements for psql that give a server the settings of the profile")
    settings.add_argument("--durability", choices=DURABILITIES, default=OFF.name, help="recovery logging [off]")
    add_server_arguments(settings)
    shell = action("shell", "open psql; the embedded PostgreSQL is started if need be")
    add_server_arguments(shell)
    shell.add_argument("psql", nargs="*", metavar="-- ...", help="options for psql")


def run(args: argparse.Namespace) -> int:
    actions = {"start": _start, "stop": _stop, "status": _status, "roles": _roles, "settings": _settings}
    return {**actions, "shell": _shell}[args.action](args)


def _port(text: str) -> int:
    if text.isdecimal() and 1024 <= int(text) <= 65535:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text} is no port between 1024 and 65535")


def _memory(text: str) -> str:
    if text == PROFILE_MEMORY or re.fullmatch(r"[1-9]\d{0,4}(MB|GB)", text):
        return text
    raise argparse.ArgumentTypeError(f"{text} is no size: whole MB or GB, as in 64MB")


def _start(args: argparse.Namespace) -> int:
    _describe(server.ensure_running(DURABILITIES.get(args.durability), args.port, args.memory))
    if named := [name for name in WHERE_VARIABLES if os.environ.get(name)]:
        print(f"note        {named[0]} is set, so other commands use the server that it names")
    return 0


def _stop(_args: argparse.Namespace) -> int:
    print("stopped" if server.stop() else "not running")
    return 0


def _status(args: argparse.Namespace) -> int:
    if target := given_target(args.dsn, args.database):
        _describe_target(target, target.label)
    elif running := server.status():
        _describe(running, args.database)
    else:
        print(f'not running; start it with "lrb db start"\ndata        {home().data}')
        return 1
    return 0


def _roles(args: argparse.Namespace) -> int:
    target = find_target(args.dsn, database=args.database)
    with with_safe_path(target.open()) as connection:
        if target.embedded:
            make_roles(connection)
        missing = missing_statements(connection)
    if not missing:
        print(f"-- {OWNER} owns what a run builds; {DRIVER} loads its input, calls its routines, reads its answers.")
        return 0
    print("-- For an administrator of this database; a run then needs no other rights.")
    print("\n".join(f"{statement};" for statement in missing))
    print(f"-- {DRIVER} logs in with the password in {PASSWORD_VARIABLE} or in the password file; to set it:")
    print(f"-- \\password {DRIVER}")
    print("-- Others may make tables of their own here, so it may as well; where that is not wanted:")
    print("-- REVOKE CREATE ON SCHEMA public FROM PUBLIC; REVOKE TEMPORARY ON DATABASE ... FROM PUBLIC;")
    return 0


def _settings(args: argparse.Namespace) -> int:
    target, durability = find_target(args.dsn, database=args.database), DURABILITIES[args.durability]
    with target.open() as connection:
        statements = alter_system(connection, durability)
    print(f"-- {target.label}: {len(statements)} settings differ from the profile for durability {durability}.")
    if not statements:
        return 0
    print("-- For psql, as an administrator, on a server for this alone: it can have no standby and no archive then.")
    if not files_stay_whole(durability.settings):
        print("-- If its machine fails, all its data may be damaged.")
    print("\n".join(statements))
    print("SELECT pg_reload_conf();")
    if any(statement.endswith(RESTART) for statement in statements):
        print("-- Then restart the server.")
    return 0


def _describe(running: server.Server, database: str | None = None) -> None:
    _describe_target(running.target.on(database), f"socket {running.socket_folder}")
    print(f"data        {running.home.data}")
    print(f"log         {running.home.log}")
    if running.port:
        print(f"loopback    127.0.0.1:{running.port}, user postgres, password in {running.home.password}")


def _describe_target(target: Target, where: str) -> None:
    with target.open() as connection:
        version, database, size = execute(
            connection,
            "SELECT current_setting('server_version'), current_database(), pg_database_size(current_database())",
        ).one()
        user = holder(connection)
        settings = read_settings(connection)
    durability = durability_of(settings)
    print(f"running     PostgreSQL {version.split()[0]}, {where}")
    print(f"settings    durability {durability}, {_difference(settings, durability)}")
    print(f"database    {database}, {size / 1e6:,.1f} MB, {f'in use by {user}' if user else 'not in use'}")


def _difference(settings: dict[str, str], durability: Durability) -> str:
    others = [f"{name} {settings[name]} ({value})" for name, value in differences(settings, durability).items()]
    return "not as in the profile (in brackets): " + ", ".join(others) if others else "all as in the profile"


def _shell(args: argparse.Namespace) -> int:
    psql = find_psql()
    if psql is None:
        raise Refusal("psql is not here; install the package postgresql-client of your system")
    text, secrets = find_target(args.dsn, database=args.database).psql
    os.execve(psql, [str(psql), text, *args.psql], {**os.environ, **secrets})
