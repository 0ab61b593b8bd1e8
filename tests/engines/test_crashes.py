"""Real SIGKILLs, at every step of a cycle and at random moments: a run with durability goes on as if nothing had been.

The final answers are compared with the right ones: none is missing, none is there twice, none is another.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from driver.spark.judge import Question, judged
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
    ("Polling._hand_over", "before", 3),
    ("Polling._hand_over", "after", 3),
    ("Polling._cycle", "after", 4),
    ("Polling._answer_balances", "before", 6),
    ("Polling._answer_balances", "after", 5),
    ("Polling._read", "before", 4),
    ("Recording.answers", "torn", 3),
    ("Recording.answers", "after", 2),
    ("Recording._keep", "after", 5),
    ("Recording.cycle", "after", 3),
]


def test_strikes_in_the_database(crash_world: World, tmp_path: Path) -> None:
    """Sixteen kills: a backend or the whole server, at each step of a cycle of one of two workers."""
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
        counts = judgement.facts["answers"]
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
