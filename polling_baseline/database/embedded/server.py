"""The embedded PostgreSQL: start, stop, look.

It listens on a unix socket in a private folder, where nobody is asked for a password; on 127.0.0.1 only if a port is
asked for, with a password.  It goes on running when the command that started it ends.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg2

from polling_baseline.database.connection import Target, Unreachable
from polling_baseline.database.embedded import dead_server as leftovers
from polling_baseline.database.embedded.binaries import Binaries, find_binaries
from polling_baseline.database.embedded.server_home import ServerHome, home
from polling_baseline.database.session import execute
from polling_baseline.database.settings import (
    DIRECT_SINCE,
    OFF,
    PROFILE_MEMORY,
    Durability,
    durability_of,
    files_stay_whole,
    memory_of,
    memory_settings,
    read_settings,
)
from polling_baseline.refusal import Refusal

log = logging.getLogger("lrb")
SUPERUSER = "postgres"
DATABASE = "postgres"
SOCKET_PORT = 5432
WAIT_S = 60
WAIT = ("-w", "-t", str(WAIT_S))

# What PostgreSQL writes when it fails, and what we say.
EXPLANATIONS = {
    r"No space left on device|Disk quota exceeded|Check free disk space": (
        "no space left in {folder}; free some, or set LRB_STATE to a folder on another disk"
    ),
    r"could not create any TCP/IP sockets": (
        "port {port} of 127.0.0.1 is in use; choose another --port or leave it out"
    ),
    r"could not look up effective user ID (\d+)": (
        "user id {0} has no name on this machine, which PostgreSQL needs; "
        "run lrb as a user that /etc/passwd knows, or give a server by --dsn"
    ),
    r'lock file "postmaster.pid" already exists': (
        "{data}/postmaster.pid names process {pid}, which does not answer as PostgreSQL; "
        "if it is another program, delete that file and start again"
    ),
    r'postmaster.pid" is empty': "{data}/postmaster.pid is empty; delete it and start again",
}


@dataclass(frozen=True, slots=True)
class Server:
    """The embedded server while it runs."""

    target: Target
    home: ServerHome
    version: str
    durability: Durability
    # Where it is not the profile's, it is all that holds pages.
    memory: str
    socket_folder: Path
    # Of 127.0.0.1, if it listens there.
    port: int | None


def ensure_running(durability: Durability | None = None, port: int | None = None, memory: str | None = None) -> Server:
    """Start the server unless it runs; one that runs otherwise than asked for is restarted, and stderr says so.

    Nothing asked for: a running server is taken as it is, a new one has durability off, no port, the profile's memory.
    """
    server_home = home()
    with server_home.lock():
        running = _running(server_home)
        if running:
            changes = [f"durability {durability}"] if durability not in (None, running.durability) else []
            changes += [f"port {port}"] if port not in (None, running.port) else []
            changes += [f"memory {memory}"] if memory not in (None, running.memory) else []
            if not changes:
                return running
            durability, port, memory = durability or running.durability, port or running.port, memory or running.memory
        binaries = find_binaries(server_home.owner)
        _prepare(server_home, binaries)
        settings = memory_settings(memory or PROFILE_MEMORY)
        if settings and binaries.major < DIRECT_SINCE:
            raise Refusal(f"--memory needs PostgreSQL {DIRECT_SINCE} or later; this is {binaries.version}")
        if running:
            _refuse_if_busy(running)
            log.info("restarting the embedded PostgreSQL with %s", " and ".join(changes))
            _stop(server_home, binaries)
        return _start(server_home, binaries, durability or OFF, port, settings)


def status() -> Server | None:
    """The server, if it runs."""
    server_home = home()
    with server_home.lock():
        return _running(server_home)


def stop() -> bool:
    """Stop the server; whoever is connected loses the connection.  False if it did not run."""
    server_home = home()
    with server_home.lock():
        running = _running(server_home)
        if running is None:
            return False
        _stop(server_home, find_binaries(server_home.owner))
        if (short := server_home.socket_folder()) != server_home.folder:
            short.rmdir()
        return True


def _running(home: ServerHome) -> Server | None:
    """Asked, not guessed: a server runs if it answers at the socket that its pid file names."""
    lines = _pid_file(home)
    if len(lines) < 5 or not lines[4]:
        return None
    parameters = {"host": lines[4], "port": lines[3], "user": SUPERUSER, "dbname": DATABASE}
    target = Target(parameters, embedded=True)
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            version, listens, settings = _facts(target)
            break
        except Unreachable:
            return None
        except psycopg2.OperationalError:
            # It hung up on us: a crash of another session ends all sessions, and it recovers.
            if time.monotonic() > deadline:
                raise
    port = int(lines[3]) if listens else None
    profile = (durability_of(settings), memory_of(settings))
    return Server(target, home, version.split()[0], *profile, Path(lines[4]), port)


def _facts(target: Target) -> tuple[str, str, dict[str, str]]:
    """Version, addresses that it listens on, settings."""
    with target.open() as connection:
        version, listens = execute(
            connection, "SELECT current_setting('server_version'), current_setting('listen_addresses')"
        ).one()
        return version, listens, read_settings(connection)


def _pid_file(home: ServerHome) -> list[str]:
    try:
        return (home.data / "postmaster.pid").read_text().splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []


def _refuse_if_busy(running: Server) -> None:
    with running.target.open() as connection:
        others, who = execute(
            connection,
            "SELECT count(*), string_agg(DISTINCT application_name, ', ') FROM pg_catalog.pg_stat_activity "
            "WHERE backend_type = 'client backend' AND pid <> pg_catalog.pg_backend_pid()",
        ).one()
    if others:
        raise Refusal(
            f"the embedded PostgreSQL runs with durability {running.durability} and has other connections "
            f'({others}: {who}); wait for them, or end it with "lrb db stop"'
        )


def _prepare(home: ServerHome, binaries: Binaries) -> None:
    """Have a data folder of the right version; an interrupted initdb leaves none."""
    if home.data.exists():
        try:
            made_by = (home.data / "PG_VERSION").read_text().strip()
        except FileNotFoundError:
            raise Refusal(f"{home.data} is no PostgreSQL data folder; move it away and start again") from None
        if made_by != str(binaries.major):
            raise Refusal(
                f"{home.data} was made by PostgreSQL {made_by}, this is {binaries.version}; delete the folder "
                f"(lrb load fills a new one), or set LRB_PG_BIN to the programs of PostgreSQL {made_by}"
            )
        return
    partial = home.folder / "data.partial"
    shutil.rmtree(partial, ignore_errors=True)
    _write(home, home.password, secrets.token_urlsafe(24) + "\n")
    command = [str(binaries.folder / "initdb"), "-D", partial.name, "-U", SUPERUSER, "--encoding=UTF8", "--locale=C"]
    command += ["--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={home.password.name}", "--no-sync"]
    # From 18 on checksums are the default; they cost time on every page.
    command += ["--no-data-checksums"] if binaries.major >= 18 else []
    try:
        made = _run(home, command)
        if made.returncode:
            raise _refusal(home, made.stdout, None)
        partial.rename(home.data)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _configure(home: ServerHome, durability: Durability, port: int | None, others: Mapping[str, str]) -> None:
    """Write the settings where they win over all others, and over what ALTER SYSTEM said in an earlier life."""
    settings = {
        **durability.settings,
        **others,
        "unix_socket_directories": '"' + str(home.socket_folder()).replace('"', '""') + '"',
        "listen_addresses": "127.0.0.1" if port else "",
        "port": str(port or SOCKET_PORT),
    }
    quoted = {name: value.replace("'", "''") for name, value in settings.items()}
    text = "".join(f"{name} = '{value}'\n" for name, value in quoted.items())
    _write(home, home.data / "postgresql.auto.conf", text)


def _start(
    home: ServerHome, binaries: Binaries, durability: Durability, port: int | None, others: Mapping[str, str]
) -> Server:
    stale = bool(_pid_file(home))
    _configure(home, durability, port, others)
    seen = home.log.stat().st_size if home.log.exists() else 0
    if files_stay_whole(durability.settings):
        # What was written while that was not asked for may not be on the disk yet.
        _run(home, [binaries.folder / "initdb", "--sync-only", "-D", home.data.name])
    if stale and leftovers.only_a_name(int(_pid_file(home)[0]), home.data):
        names = ("data/postmaster.pid", f"{home.socket_folder()}/.s.PGSQL.{port or SOCKET_PORT}.lock")
        _run(home, ["rm", "-f", *names])
    started = _run(home, [binaries.folder / "pg_ctl", "start", "-D", home.data.name, "-l", home.log.name, *WAIT])
    running = _running(home)
    if started.returncode or running is None:
        messages = home.log.read_bytes()[seen:].decode(errors="replace") if home.log.exists() else ""
        raise _refusal(home, messages + started.stdout, port)
    if stale:
        log.warning(
            "the embedded PostgreSQL had not been stopped properly; it has recovered, but what a run or a load "
            "had put in with durability off is lost"
        )
    return running


def _stop(home: ServerHome, binaries: Binaries) -> None:
    stopped = _run(home, [binaries.folder / "pg_ctl", "stop", "-D", home.data.name, "-m", "fast", *WAIT])
    if stopped.returncode:
        raise Refusal(f"the embedded PostgreSQL did not stop within {WAIT_S} s; its log is {home.log}")


def _write(home: ServerHome, file: Path, text: str) -> None:
    """Write a private file as the server's user: root does not follow where another user may have put a link."""
    written = _run(home, ["/bin/sh", "-c", 'umask 077 && cat > "$1"', "sh", str(file.relative_to(home.folder))], text)
    if written.returncode:
        raise _refusal(home, written.stdout, None)


def _run(home: ServerHome, command: Sequence[str | Path], text: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program as the server's user, inside its folder, so that no path needs quoting.

    The output goes through a file: a pipe would stay open as long as the server that pg_ctl starts.
    """
    # A PGDATA or PGOPTIONS of the user's is meant for another server.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    options = home.owner.subprocess_options if home.owner else {}
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=home.folder,
            env={**environment, "LC_ALL": "C"},
            input=text,
            text=True,
            stdout=output,
            stderr=subprocess.STDOUT,
            **options,
        )
        output.seek(0)
        return subprocess.CompletedProcess(done.args, done.returncode, output.read())


def _refusal(home: ServerHome, output: str, port: int | None) -> Refusal:
    """The clear sentence for what PostgreSQL wrote when it failed."""
    # A full disk may have left no room to say so.
    if shutil.disk_usage(home.folder).free < 1 << 20:
        output += "No space left on device"
    for pattern, sentence in EXPLANATIONS.items():
        if match := re.search(pattern, output):
            pid = next(iter(_pid_file(home)), "?")
            return Refusal(sentence.format(*match.groups(), folder=home.folder, data=home.data, port=port, pid=pid))
    errors = (
        re.findall(r"(?:FATAL|PANIC|error): +(.*)", output) or output.strip().splitlines()[-1:] or ["no reason given"]
    )
    return Refusal(f"the embedded PostgreSQL did not start: {errors[0]}; its log is {home.log}")
