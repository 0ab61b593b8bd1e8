"""A run on Spark Structured Streaming whose driver is killed goes on: no answer comes twice, none is lost."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from driver.run.engines import Backends
from driver.run.loop import resume_run
from polling_baseline.refusal import Refusal
from tests.conftest import lrb_options
from tests.engines.crashing import MINUTES, World, completed, crash_road, died, facts

# Spark has done the third of twelve batches, and the sink has not got it.
DEATH = ("query.receive", "before", "3")
# The sink has the fifth, and Spark has not noted yet that it is done.
NEXT_DEATH = ("query.receive", "after", 3)


def test_the_driver_is_killed_twice(
    spark: Any, own_environment: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LRB_STATE", str(tmp_path / "state"))
    dataset, answers = crash_road(tmp_path, seed=3)
    world, run = World(dataset, Counter(answers), None), tmp_path / "run"
    words = ["--engine", "structured_streaming", "--warm-up", 0, "--durability", "on", "--clock", "virtual"]
    words += ["--period", 20, "--to-minute", MINUTES, "--master", "local[1]", "--out", run]
    command = [sys.executable, "-m", "tests.engines.dying", *DEATH, "run", dataset.path, *words]
    done = subprocess.run([str(word) for word in command], **lrb_options({}))
    assert done.returncode == -9, done.stderr
    before = facts(run)
    assert before["state"] == "running"
    label = Path(before["environment"]["engine"]["checkpoint"]) / "streaming.json"
    text = label.read_text()
    label.write_text(text.replace('"spark": "', '"spark": "0.'))
    with pytest.raises(Refusal, match=r"was written by Spark 0\..*; this is Spark "):
        resume_run(run, Backends())
    label.write_text(text)
    died(run, *NEXT_DEATH)
    completed(world, run)
    after = facts(run)
    assert len(after["outages"]) == 2
    assert after["environment"]["engine"]["repeated_batches"] == 1
    assert list((tmp_path / "state" / "streaming").iterdir()) == []
