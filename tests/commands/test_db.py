"""`lrb db` as a user types it, with everything that can be wrong on a machine."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psycopg2
import pytest

from polling_baseline.database.embedded import binaries
from polling_baseline.database.embedded import server_home as state
from polling_baseline.database.embedded.server import ensure_running, stop
from polling_baseline.database.settings import OFF, read_settings
from tests.conftest import lrb_command, lrb_options, refused

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def test_life_of_a_server(lrb, folder):
    done = lrb("db", "status")
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, 'not running; start it with "lrb db start"')

    first = lrb("db", "start")
    assert first.returncode == 0, first.stderr
    assert "durability off, all as in the profile" in first.stdout
    assert lrb("db", "start").stdout == first.stdout
    assert lrb("db", "status").stdout == first.stdout
    assert str(folder) in first.stdout

    done = lrb("db", "shell", "--", "-Atc", "SELECT 6 * 7")
    assert done.stdout == "42\n"

    done = lrb("db", "start", "--durability", "on")
    assert "restarting the embedded PostgreSQL with durability on" in done.stderr
    assert "durability on, all as in the profile" in done.stdout
    assert "durability on" in lrb("db", "start").stdout

    assert lrb("db", "stop").stdout == "stopped\n"
    assert lrb("db", "stop").stdout == "not running\n"
    assert lrb("db", "status").returncode == 1


def test_a_server_with_little_memory(lrb, installed):
    done = lrb("db", "start", "--memory", "32MB")
    assert "shared_buffers 32MB (2GB), debug_io_direct data ()" in done.stdout, done.stderr
    # It stays so, whatever else is asked for, until it is stopped.
    done = lrb("db", "start", "--memory", "32MB", "--durability", "on")
    assert "restarting the embedded PostgreSQL with durability on\n" in done.stderr
    with ensure_running().target.open() as connection:
        settings = read_settings(connection)
    assert (settings["shared_buffers"], settings["debug_io_direct"]) == ("32MB", "data")
    done = lrb("db", "start", "--memory", "profile")
    assert "with memory profile" in done.stderr and "all as in the profile" in done.stdout
    assert "32 is no size" in lrb("db", "start", "--memory", "32").stderr


def test_settings_are_those_of_the_profile(server):
    with server.target.open() as connection:
        assert read_settings(connection) == OFF.settings


def test_only_the_owner_can_reach_the_socket_and_the_data(server):
    assert server.port is None
    for private in (server.home.folder, server.home.data, server.socket_folder):
        assert private.stat().st_mode & 0o077 == 0
    assert server.home.password.stat().st_mode & 0o077 == 0


def test_many_at_once_start_one_server(folder):
    options = lrb_options({})
    del options["capture_output"], options["timeout"]
    started = [
        subprocess.Popen(lrb_command("db", "start"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        for _ in range(3)
    ]
    said = [process.communicate()[0] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], said
    assert len(set(said)) == 1
    assert (state.home().log).read_text().count("database system is ready") == 1


def test_a_busy_server_keeps_its_durability(lrb, installed):
    connection = ensure_running().target.connect()
    assert "has other connections (1: lrb)" in refused(lrb("db", "start", "--durability", "on"))
    connection.close()


def test_a_port_in_use(lrb, installed, free_port):
    with socket.create_server(("127.0.0.1", free_port)):
        sentence = refused(lrb("db", "start", "--port", free_port))
    assert f"port {free_port} of 127.0.0.1 is in use; choose another --port" in sentence
    assert lrb("db", "start", "--port", free_port).returncode == 0


@pytest.mark.parametrize("port", ["0", "80", "70000", "five"])
def test_no_port(lrb, port):
    assert f"{port} is no port" in lrb("db", "start", "--port", port).stderr


def test_a_server_that_was_killed(lrb, installed):
    running = ensure_running()
    pid = int((running.home.data / "postmaster.pid").read_text().splitlines()[0])
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while _alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert lrb("db", "status").returncode == 1
    time.sleep(0.5)  # its other processes notice and end
    done = lrb("db", "start")
    assert done.returncode == 0, done.stderr
    assert "had not been stopped properly" in done.stderr


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_pid_file_that_names_another_program(lrb, installed):
    running = ensure_running()
    stop()
    owner = running.home.owner
    with subprocess.Popen(["sleep", "100"], cwd="/", **(owner.subprocess_options if owner else {})) as sleep:
        pid_file = running.home.data / "postmaster.pid"
        pid_file.write_text(f"{sleep.pid}\n{running.home.data}\n0\n5432\n{running.socket_folder}\n\n")
        running.home.give(pid_file, 0o600)
        sentence = refused(lrb("db", "start"))
        sleep.kill()
    assert f"names process {sleep.pid}, which does not answer" in sentence
    pid_file.write_text("")
    assert "postmaster.pid is empty; delete it" in refused(lrb("db", "start"))
    pid_file.unlink()
    assert lrb("db", "start").returncode == 0


@pytest.mark.parametrize("version", ["13", "99"])
def test_a_data_folder_of_another_major_version(lrb, folder, version):
    data = state.home().data
    data.mkdir()
    (data / "PG_VERSION").write_text(version + "\n")
    assert f"was made by PostgreSQL {version}, this is" in refused(lrb("db", "start"))
    (data / "PG_VERSION").unlink()
    assert "is no PostgreSQL data folder" in refused(lrb("db", "start"))


def test_an_interrupted_initdb_leaves_nothing(lrb, folder):
    here = state.home()
    (here.folder / "data.partial").mkdir()
    (here.folder / "data.partial" / "PG_VERSION").write_text("18\n")
    assert lrb("db", "start").returncode == 0
    assert not (here.folder / "data.partial").exists()


def test_programs_that_are_too_old_or_missing(lrb, folder, tmp_path):
    assert "LRB_PG_BIN" in refused(lrb("db", "start", LRB_PG_BIN=folder))
    for program in ("initdb", "postgres", "pg_ctl"):
        (folder / program).write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 12.3'\n")
        (folder / program).chmod(0o755)
    assert "PostgreSQL 12.3 in" in refused(lrb("db", "start", LRB_PG_BIN=folder))


def test_a_path_too_long_for_a_socket(lrb, folder):
    long = folder / ('it\'s a "long" $HOME ' * 6)
    done = lrb("db", "start", LRB_STATE=long)
    assert done.returncode == 0, done.stderr
    assert lrb("db", "stop", LRB_STATE=long).stdout == "stopped\n"


def test_a_folder_that_cannot_be_made(lrb, folder):
    (folder / "file").touch()
    assert "cannot write to" in refused(lrb("db", "start", LRB_STATE=folder / "file" / "below"))


@as_root
def test_a_full_disk(lrb, folder):
    small = folder / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m,mode=755", "tmpfs", small]).returncode:
        pytest.skip("cannot mount a small disk")
    try:
        sentence = refused(lrb("db", "start", LRB_STATE=small))
        assert "no space left in" in sentence
        assert [path.name for path in (small / "postgresql").iterdir()] == ["password"]
    finally:
        subprocess.run(["umount", small], check=True)


@pytest.fixture
def lrb_as(folder):
    """`lrb` as another user, who owns the state folder."""
    site = Path(psycopg2.__file__).parents[1]
    name = f"python3.{sys.version_info.minor}"
    pythons = [sys.executable, shutil.which(name, path="/usr/local/bin:/usr/bin"), shutil.which(name)]

    def run(uid, *words):
        os.chown(folder, uid, uid)
        options = lrb_options({"user": uid, "group": uid, "extra_groups": [], "cwd": "/", "HOME": folder})
        options["env"]["PYTHONPATH"] += f"{os.pathsep}{site}"
        for python in filter(None, pythons):
            with suppress(PermissionError):
                done = subprocess.run([python, *lrb_command(*words)[1:]], **options)
                if "No module named" not in done.stderr:
                    return done
        pytest.skip("another user cannot run this Python")

    return run


@as_root
def test_a_user_without_a_name(lrb_as):
    assert "user id 54321 has no name on this machine" in refused(lrb_as(54321, "db", "start"))


@as_root
def test_as_an_ordinary_user_and_then_as_root(lrb, lrb_as):
    done = lrb_as(65534, "db", "start")
    assert done.returncode == 0, done.stderr
    assert lrb("db", "status").stdout == done.stdout
    assert lrb("db", "stop").stdout == "stopped\n"
    assert lrb("db", "start").stdout == done.stdout
    assert lrb_as(65534, "db", "stop").stdout == "stopped\n"


@as_root
def test_folders_that_the_servers_user_cannot_reach(folder, monkeypatch):
    """A checkout in root's home: programs and data move to a place of root's that others can enter."""
    monkeypatch.setattr(state, "ROOT_FOLDER", folder / "reachable")
    private = folder / "private"
    private.mkdir(mode=0o700)
    package = binaries._package()
    for source in (package, package.with_name(package.name + ".libs")):
        shutil.copytree(source, private / source.name, symlinks=True, ignore=shutil.ignore_patterns("pginstall", "*.a"))
    monkeypatch.setattr(binaries, "_package", lambda: private / package.name)
    monkeypatch.setenv("LRB_STATE", str(private / "state"))
    running = ensure_running()
    assert running.home.folder.parent == folder / "reachable"
    assert binaries.find_binaries(running.home.owner).folder.is_relative_to(folder / "reachable")
    assert stop()
