"""Kill a run with SIGKILL, at a chosen step or at any moment, and let it go on.

Inside the database a step is the moment when a table is written: a trigger of the test's own counts down and kills the
backend that fires it, or the whole server with it.  Inside the driver it is a call of a function: see `dying.py`.
"""

from __future__ import annotations

import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from driver.dataset.folder import Dataset
from driver.history.load import ensure_loaded
from driver.run.engines import Backends
from driver.run.loop import resume_run
from polling_baseline.database.claim import claim_database
from polling_baseline.database.connection import Target
from polling_baseline.database.embedded.server import ensure_running, stop
from polling_baseline.database.settings import ON
from tests import traces
from tests.conftest import ROOT, lrb_command, lrb_options, state_folder
from tests.support import oracle
from tests.support.one_dataset import Road, one_dataset
from tests.support.random_road import random_history, random_lines

MINUTES, PERIOD_S = 4, 2.0
DISK_MB = 600
MEMORY = Path("/dev/shm")
# What a strike does to the backend that it meets, or to the server; a program's folder is the server's data folder.
PROGRAM = "COPY (SELECT 1) TO PROGRAM '{}'"
VICTIMS = {
    "backend": PROGRAM.format("kill -9 $PPID"),
    "server": PROGRAM.format("kill -9 $(head -n 1 postmaster.pid) $PPID"),
    "session": "SELECT pg_terminate_backend(pg_backend_pid())",
    "shutdown": PROGRAM.format("cat >/dev/null; (sleep 0.02; kill -INT $(head -n 1 postmaster.pid)) >/dev/null 2>&1 &"),
    "disk": PROGRAM.format("cat /dev/zero > ../ballast; true"),
}
KILLED = ("backend", "server")
# Where a cycle can be struck: when it happens, and on which table of a worker.
STEPS = {
    "clear": "BEFORE TRUNCATE ON {}.position_report",
    "reports": "AFTER INSERT ON {}.position_report",
    "requests": "AFTER INSERT ON {}.request",
    "minute": "AFTER INSERT ON {}.segment_toll",
    "ring": "AFTER INSERT ON {}.ring_040",
    "tally": "AFTER INSERT ON {}.segment_tally",
    "movements": "AFTER INSERT ON {}.movement",
    "trips": "AFTER INSERT ON {}.vehicle",
    "tolls": "AFTER INSERT ON {}.toll_notification",
    "alerts": "AFTER INSERT ON {}.accident_alert",
    "stops": "AFTER INSERT ON {}.stopped_car",
    "balances": "AFTER INSERT ON {}.account_balance",
    "expenditures": "AFTER INSERT ON {}.daily_expenditure",
    "travel times": "AFTER INSERT ON {}.travel_time",
    "ledger": "AFTER INSERT ON {}.cycle",
    "steps": "AFTER INSERT ON {}.cycle_step",
    "commit": "DEFERRED",
}
Answer = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class World:
    """A server of its own with recovery logging, a road on it, and the right answers."""

    dataset: Dataset
    right: Counter[Answer]
    # A file that may fill the server's disk, if that is a small one.
    ballast: Path | None

    @property
    def target(self) -> Target:
        return ensure_running(ON).target


@contextmanager
def world(folder: Path, seed: int) -> Iterator[World]:
    with _fast_disk() as disk, state_folder(disk) as state, pytest.MonkeyPatch.context() as patch:
        patch.setenv("LRB_STATE", str(state))
        dataset, answers = crash_road(folder, seed)
        with closing(claim_database(ensure_running(ON).target, "test")) as claim:
            ensure_loaded(dataset, claim, "local[2]")
        try:
            yield World(dataset, Counter(answers), None if disk in (None, MEMORY) else state / "postgresql" / "ballast")
        finally:
            stop()


def crash_road(folder: Path, seed: int) -> tuple[Dataset, list[Answer]]:
    """A small road as a data set, and the right answers."""
    lines = random_lines(seed, MINUTES, vehicles=30, requests=200)
    tolls, segments = random_history(seed)
    road = Road(lines, tolls, segments, oracle.answers(lines, tolls, segments))
    dataset, [answers] = one_dataset([road], folder / "road")
    return dataset, answers


@contextmanager
def _fast_disk() -> Iterator[Path | None]:
    """In memory where that can be: a process that is killed loses no more there, and no fsync waits.

    Root gets a disk of its own, small enough to fill.
    """
    with tempfile.TemporaryDirectory(prefix="lrb-disk-") as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=755", "tmpfs", folder]
        if os.geteuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0:
            Path(folder).chmod(0o755)
            try:
                yield Path(folder)
            finally:
                subprocess.run(["umount", folder], check=True)
        else:
            yield MEMORY if os.access(MEMORY, os.W_OK) else None


def answers(run: Path) -> Counter[Answer]:
    with (run / "output.csv").open() as lines:
        return Counter(traces.without_emit(row) for row in csv.reader(lines))


def facts(run: Path) -> dict:
    return json.loads((run / "run.json").read_text())


def arm(target: Target, step: str, schema: str, call: int, victim: str) -> None:
    """At the `call`-th time from now on that a cycle comes to this step, the victim is killed."""
    when = STEPS[step].format(schema)
    if when == "DEFERRED":
        head = f"CONSTRAINT TRIGGER strike AFTER INSERT ON {schema}.cycle DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
    else:
        head = f"TRIGGER strike {when} FOR EACH STATEMENT"
    with closing(target.connect()) as connection, connection, connection.cursor() as cursor:
        cursor.execute("SET LOCAL client_min_messages = warning")
        cursor.execute("DROP SCHEMA IF EXISTS strike CASCADE; CREATE SCHEMA strike; CREATE SEQUENCE strike.countdown")
        cursor.execute("""
            CREATE FUNCTION strike.hit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
            BEGIN
                IF nextval('strike.countdown') = TG_ARGV[0]::bigint THEN
                    EXECUTE TG_ARGV[1];
                END IF;
                RETURN NULL;
            END $$
        """)
        cursor.execute(f"CREATE {head} EXECUTE FUNCTION strike.hit({call}, %s)", (VICTIMS[victim],))


def disarm(target: Target) -> None:
    with closing(target.connect()) as connection, connection, connection.cursor() as cursor:
        cursor.execute("SET LOCAL client_min_messages = warning")
        cursor.execute("DROP SCHEMA IF EXISTS strike CASCADE")


def struck(world: World, run: Path, step: str, schema: str, call: int, victim: str) -> None:
    """Go on with the run until the strike hits it."""
    arm(world.target, step, schema, call, victim)
    found = resume_run(run, Backends())
    assert found["state"] == "broken", (step, schema, victim, found["state"])
    assert re.search("was lost|terminating connection|No space left", found["reason"]), found["reason"]
    if world.ballast:
        world.ballast.unlink(missing_ok=True)
    # A crash may have set the countdown back.
    disarm(world.target)


def died(run: Path, function: str, when: str, call: int) -> None:
    """Go on with the run in a process of its own, which dies before or after a call of one of its functions."""
    command = [sys.executable, "-m", "tests.engines.dying", function, when, str(call)]
    done = subprocess.run([*command, "run", "--resume", str(run)], **lrb_options({"cwd": ROOT}))
    assert done.returncode == -9, (function, when, done.returncode, done.stderr)


def killed(run: Path, rng: random.Random) -> bool:
    """Go on with the run in a process of its own and kill it some cycles later; False if it was done before."""
    options = {**lrb_options({}), "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    del options["capture_output"], options["timeout"]
    last = _cycles(run) + rng.randint(0, 4)
    with subprocess.Popen(lrb_command("run", "--resume", run), **options) as process:
        while process.poll() is None and _cycles(run) <= last:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.05))
        process.kill()
        _, said = process.communicate()
    assert process.returncode in (0, -9), said
    return facts(run)["state"] != "complete"


def _cycles(run: Path) -> int:
    """How many are on record."""
    return (run / "cycles.csv").read_bytes().count(b"\n")


def begun(world: World, run: Path, workers: int, rng: random.Random, *options: str) -> None:
    """Begin a run in a process of its own, and kill it when its first cycles are on record."""
    words = ("--durability", "on", "--clock", "virtual", "--period", PERIOD_S, "--workers", workers, *options)
    settings = {**lrb_options({}), "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    del settings["capture_output"], settings["timeout"]
    command = lrb_command("run", world.dataset.path, *words, "--to-minute", MINUTES, "--out", run)
    with subprocess.Popen(command, **settings) as process:
        deadline = time.monotonic() + 120
        wanted = rng.randint(2, 5)
        while not (run / "cycles.csv").exists() or _cycles(run) <= wanted:
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.kill()
        process.communicate()
    assert process.returncode == -9
    assert facts(run)["state"] == "running"


def completed(world: World, run: Path) -> None:
    """Go on undisturbed: no answer is missing, none is there twice, all are right."""
    found = resume_run(run, Backends())
    assert found["state"] == "complete", found["reason"]
    got = answers(run)
    assert got == world.right, {"missing": world.right - got, "extra": got - world.right}
    assert sum(kind["received"] for kind in found["answers"].values()) == world.right.total()
