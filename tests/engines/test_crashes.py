"""Real SIGKILLs, at every step of a cycle and at random moments, and lesser trouble: a run with durability goes on.

The final answers are compared with the right ones: none is missing, none is there twice, none is another.
"""

from __future__ import annotations

import random
import resource
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from driver.cli import main
from driver.run.engines import Backends
from driver.run.loop import resume_run
from driver.run.record import write_run
from driver.run.verdict import read_verdict
from driver.validate.judge import Question, judged
from driver.validate.live.follow import follow
from polling_baseline.database import claim
from polling_baseline.engines.system_x import sessions
from polling_baseline.refusal import Refusal
from tests.engines.crashing import MINUTES, STEPS, World, begun, completed, died, facts, killed, struck, world

FAULTS = ("missing", "extra", "duplicate", "wrong", "early")


@pytest.fixture(scope="module")
def crash_world(own_environment: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    from driver.spark.session import session

    session("local[2]")
    with world(tmp_path_factory.mktemp("crashes"), seed=3) as made:
        yield made


# Function of the driver, before or after which it dies, and at which call.
DEATHS = [
    ("engine._load", "before", 3),
    ("engine._load", "after", 3),
    ("engine._cycle", "after", 4),
    ("engine._answer_balances", "before", 6),
    ("engine._answer_balances", "after", 5),
    ("engine._read", "before", 4),
    ("recording.answers", "torn", 3),
    ("recording.answers", "after", 2),
    ("recording._keep_output", "after", 3),
    ("recording.cycle", "after", 3),
]


def test_strikes_in_the_database(crash_world: World, tmp_path: Path) -> None:
    """Seventeen kills: a backend or the whole server, at each step of a cycle of one of two workers."""
    run, rng = tmp_path / "run", random.Random(11)
    begun(crash_world, run, 2, rng)
    for number, step in enumerate(STEPS):
        # All requests for balances are the first worker's.
        schema = "lr" if step == "balances" else ("lr", "lr_1")[number // 2 % 2]
        struck(crash_world, run, step, schema, 1, ("backend", "server")[number % 2])
    completed(crash_world, run)
    assert len(facts(run)["outages"]) == len(STEPS) + 1


def test_deaths_of_the_driver(crash_world: World, tmp_path: Path, spark) -> None:
    """Ten kills: before and after each thing that the driver does in a cycle of two workers."""
    run, rng = tmp_path / "run", random.Random(12)
    begun(crash_world, run, 2, rng)
    for function, when, call in DEATHS:
        died(run, function, when, call)
    completed(crash_world, run)
    found = facts(run)
    assert len(found["outages"]) == len(DEATHS) + 1
    assert all(outage["seconds"] > 0 and outage["late_answers"] >= 0 for outage in found["outages"])
    # The judge says the same, but for what came late.
    question = Question(crash_world.dataset, run / "output.csv", range(MINUTES * 60))
    with judged(spark, question) as judgement:
        counts = judgement.verdict["answers"]
    assert {kind: [answer[fault] for fault in FAULTS] for kind, answer in counts.items()} == {
        kind: [0] * len(FAULTS) for kind in counts
    }


def test_random_moments(crash_world: World, tmp_path: Path) -> None:
    """One worker: its balances are answered within the cycle."""
    run, rng = tmp_path / "run", random.Random(13)
    begun(crash_world, run, 1, rng)
    for _ in range(3):
        if not killed(run, rng):
            break
        struck(crash_world, run, rng.choice(["tally", "ledger", "commit", "clear"]), "lr", rng.randint(1, 4), "backend")
    if facts(run)["state"] != "complete":
        completed(crash_world, run)


def test_on_a_given_server(crash_world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run knows its server, so it goes on there, whatever the embedded one is."""
    dsn = " ".join(f"{key}='{value}'" for key, value in crash_world.target.parameters.items())
    begun(crash_world, tmp_path / "run", 1, random.Random(16), "--dsn", dsn)
    monkeypatch.setenv("LRB_STATE", str(tmp_path / "none"))
    completed(crash_world, tmp_path / "run")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("options", "workers"),
    [
        pytest.param(("--engine", "trigger", "--granularity", "row"), 1, id="trigger-row"),
        pytest.param(("--engine", "trigger", "--granularity", "statement"), 2, id="trigger-statement"),
        pytest.param(("--design", "2004"), 1, id="design-2004"),
    ],
)
def test_triggers_and_designs(crash_world: World, tmp_path: Path, options: tuple[str, ...], workers: int) -> None:
    run, rng = tmp_path / "run", random.Random(14)
    begun(crash_world, run, workers, rng, *options)
    struck(crash_world, run, "trips", "lr", 2, "server")
    struck(crash_world, run, "commit", "lr_1" if workers > 1 else "lr", 2, "backend")
    struck(crash_world, run, "balances", "lr", 3, "backend")
    completed(crash_world, run)


@pytest.mark.parametrize("design", ["cursor", "subquery", "merge"])
def test_what_other_designs_replace(crash_world: World, tmp_path: Path, design: str) -> None:
    """They share the rest with 2004."""
    run = tmp_path / "run"
    begun(crash_world, run, 1, random.Random(15), "--design", design)
    struck(crash_world, run, "tolls", "lr", 2, "backend")
    completed(crash_world, run)


@pytest.fixture
def run(crash_world: World, tmp_path: Path) -> Path:
    """A run of two workers whose driver was killed."""
    begun(crash_world, tmp_path / "run", 2, random.Random(14))
    return tmp_path / "run"


def test_lesser_trouble(crash_world: World, run: Path) -> None:
    """A connection is lost, the server is restarted, its disk is full, the run's own disk is full."""
    struck(crash_world, run, "movements", "lr_1", 2, "session")
    struck(crash_world, run, "trips", "lr", 2, "shutdown")
    if crash_world.ballast:
        struck(crash_world, run, "clear", "lr", 2, "disk")
    with files_of_at_most(100), pytest.raises(Refusal, match="cannot write"):
        resume_run(run, Backends())
    with files_of_at_most(10_000):
        found = resume_run(run, Backends())
    assert (found["state"], "File too large" in found["reason"]) == ("broken", True)
    completed(crash_world, run)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """What a full disk is to the one who writes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_table_that_someone_locks(crash_world: World, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too long, and the run ends with a reason; for a moment, and it waits.  Nobody else may resume it meanwhile."""
    monkeypatch.setattr(sessions, "LOCK_TIMEOUT_S", 1)
    monkeypatch.setattr(claim, "WAIT_S", 1)
    with closing(crash_world.target.connect()) as other, other.cursor() as cursor:
        cursor.execute("LOCK TABLE lr.vehicle")
        found = resume_run(run, Backends())
        assert (found["state"], "another session has locked a table" in found["reason"]) == ("broken", True)
        cursor.execute("SELECT pg_advisory_lock_shared(%s)", (claim.LOCK,))
        with pytest.raises(Refusal, match="is in use by lrb "):
            resume_run(run, Backends())
        cursor.execute("SELECT pg_advisory_unlock_shared(%s)", (claim.LOCK,))
        timer = threading.Timer(0.5, other.rollback)
        timer.start()
        completed(crash_world, run)
        timer.join()


def test_on_the_real_clock_the_outage_lasts_as_long_as_it_lasted(crash_world: World, run: Path) -> None:
    found = facts(run)
    found["config"]["clock"], found["zero_at"] = "real", time.time() - 1000
    write_run(run, found)
    completed(crash_world, run)
    [outage] = facts(run)["outages"]
    assert 900 < outage["seconds"] < 1100
    # All that was asked after the kill, and the cycle that it met.
    late = sum(answer["late"] for answer in facts(run)["answers"].values())
    assert outage["late_answers"] == late > 0


def test_judged_while_it_goes_on(crash_world: World, run: Path, lrb, spark) -> None:
    """By a judge that follows the run since it was killed, and by one that is started with the rest of it."""
    question = Question(crash_world.dataset, run / "output.csv", range(MINUTES * 60))
    with ThreadPoolExecutor(1) as thread:
        followed = thread.submit(follow, run, question, lambda minute: None)
        done = lrb("run", "--resume", run, "--judge")
        verdict = followed.result()
    with judged(spark, question) as judgement:
        assert verdict == read_verdict(run) == judgement.verdict, done.stderr
    assert facts(run)["verdict"] == verdict["verdict"] and len(facts(run)["outages"]) == 1


def test_what_cannot_be_resumed(crash_world: World, run: Path, tmp_path: Path, capsys, lrb) -> None:
    def refused(*words: object) -> str:
        assert main(["run", *map(str, words)]) == 1
        return capsys.readouterr().err

    assert "is not a run" in refused("--resume", tmp_path)
    assert "leave the others out" in refused("--resume", run, "--workers", 1)
    assert "leave the others out" in refused("--resume", run, "--design", "merge")
    found = facts(run)
    write_run(run, {**found, "config": {**found["config"], "durability": "off"}})
    said = refused("--resume", run)
    assert "is gone: with durability off" in said and f"lrb run --like {run}" in said
    write_run(run, {**found, "dataset": {**found["dataset"], "identity": "other"}})
    assert "has changed since" in refused("--resume", run)
    write_run(run, found)
    output = (run / "output.csv").read_bytes()
    (run / "output.csv").write_bytes(b"")
    assert "lacks the answers of seconds 0 to" in refused("--resume", run)
    (run / "output.csv").write_bytes(output)
    completed(crash_world, run)
    assert "is complete" in refused("--resume", run)
    write_run(run, {**facts(run), "state": "running"})
    begun(crash_world, tmp_path / "next", 1, random.Random(15))
    assert "no longer holds the state of this run" in refused("--resume", run)
    done = lrb("run", "--resume", tmp_path / "next")
    assert (done.returncode, "outage" in done.stdout, "the driver was killed" in done.stdout) == (0, True, True)
