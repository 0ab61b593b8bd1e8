"""`python -m tests.engines.soak 200 [SEED]`: kill runs that often, at random steps and moments; say what came of it."""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from driver.progress import progress
from tests.engines.crashing import KILLED, World, begun, completed, died, facts, killed, struck, world
from tests.engines.test_crashes import DEATHS

# Workers, and how they work.
WAYS = (
    (1, "--engine", "polling"),
    (2, "--engine", "polling"),
    (2, "--engine", "polling"),
    (1, "--engine", "trigger", "--granularity", "row"),
    (2, "--engine", "trigger", "--granularity", "statement"),
)
# Where an engine comes by in each cycle.
ALWAYS = ("ledger", "commit")
POLLING = (*ALWAYS, "clear", "tally", "movements", "trips", "tolls", "alerts")


def one_run(made: World, run: Path, rng: random.Random, wanted: int) -> Counter[str]:
    """Begin a run, kill it up to `wanted` times in all, let it go on to its end, and compare its answers."""
    workers, *options = rng.choice(WAYS)
    begun(made, run, workers, rng, *options)
    kills = Counter({"driver, at the start": 1})
    for _ in range(min(wanted - 1, rng.randint(4, 10))):
        way = rng.choice(("moment", "death", *KILLED))
        if way == "moment":
            if not killed(run, rng):
                break
            kills["driver, at any moment"] += 1
        elif way == "death":
            function, when, call = rng.choice([death for death in DEATHS if workers > 1 or "balances" not in death[0]])
            died(run, function, when, rng.randint(1, call))
            kills[f"driver, {when} {function}"] += 1
        else:
            step = rng.choice(POLLING if "polling" in options else ALWAYS)
            struck(made, run, step, f"lr_{workers - 1}" if workers > 1 else "lr", rng.randint(1, 3), way)
            kills[f"{way}, {step}"] += 1
    if facts(run)["state"] != "complete":
        completed(made, run)
    return kills


def main(wanted: int, seed: int) -> None:
    from driver.spark.session import session

    session("local[2]")
    rng, kills, runs = random.Random(seed), Counter[str](), 0
    with (
        tempfile.TemporaryDirectory(prefix="lrb soak ") as folder,
        world(Path(folder), seed) as made,
        progress("soak", wanted) as advance,
    ):
        while kills.total() < wanted:
            now = one_run(made, Path(folder) / f"run-{runs}", rng, wanted - kills.total())
            kills += now
            runs += 1
            advance(now.total())
    for way, number in sorted(kills.items()):
        print(f"{number:5}  {way}")
    print(f"{kills.total():5}  kills in {runs} runs, seed {seed}; every run ended with exactly the right answers")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
