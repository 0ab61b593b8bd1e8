"""The engine on DuckDB with durability: killed at each step of a cycle, and with other trouble, its run goes on."""

from __future__ import annotations

import json
import random
import struct
import sys
from collections import Counter
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from driver.run.engines import Backends
from driver.run.loop import resume_run
from polling_baseline.refusal import Refusal
from tests.engines.crashing import World, begun, completed, crash_road, died, facts
from tests.engines.test_crashes import files_of_at_most

# Function before or after which the process dies, and at which call.
DEATHS = [
    ("session._close_minute", "after", 20),
    ("session._advance_vehicles", "after", 3),
    ("session._track", "before", 3),
    ("session._track", "after", 3),
    ("session._answer_balances", "after", 3),
    ("session._answer_from_history", "after", 3),
    ("session._commit", "before", 2),
    ("session._commit", "after", 3),
    ("recording.answers", "torn", 3),
    ("recording.cycle", "after", 2),
]
# Holds the file that it is told until its input ends.
HOLDER = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"


@pytest.fixture
def duck_world(own_environment: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("LRB_STATE", str(tmp_path / "state"))
    dataset, answers = crash_road(tmp_path, seed=3)
    return World(dataset, Counter(answers), None)


def test_killed_at_each_step(duck_world: World, tmp_path: Path) -> None:
    run = tmp_path / "run"
    begun(duck_world, run, 2, random.Random(11), "--engine", "duckdb")
    for function, when, call in DEATHS:
        died(run, function, when, call)
    completed(duck_world, run)
    assert len(facts(run)["outages"]) == len(DEATHS) + 1
    assert list((tmp_path / "state" / "duckdb").iterdir()) == []


def of_another_version(content: bytes) -> bytes:
    """The first block has a checksum of its words, four letters and the version of the format."""
    block = content[8:12] + (9999).to_bytes(8, "little") + content[20:4096]
    checksum = 5381
    for (word,) in struct.iter_unpack("<Q", block):
        checksum ^= word * 0xBF58476D1CE4E5B9 % 2**64
    return checksum.to_bytes(8, "little") + block + content[4096:]


def test_what_stands_in_the_way_of_a_resumption(duck_world: World, tmp_path: Path) -> None:
    run = tmp_path / "run"
    begun(duck_world, run, 1, random.Random(12), "--engine", "duckdb")
    file = Path(facts(run)["environment"]["engine"]["database"])
    with Popen([sys.executable, "-c", HOLDER, str(file)], stdin=PIPE, stdout=PIPE, text=True) as holder:
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(Refusal, match=f"is in use by process {holder.pid}; wait until"):
            resume_run(run, Backends())
        holder.communicate()
    with files_of_at_most(file.stat().st_size + 20_000):
        broken = resume_run(run, Backends())
    assert (broken["state"], "is full; make room" in broken["reason"]) == ("broken", True), broken["reason"]
    content = file.read_bytes()
    file.write_bytes(of_another_version(content))
    with pytest.raises(Refusal, match="was written by another version than DuckDB"):
        resume_run(run, Backends())
    for damaged in (content[:12] + b"?" + content[13:], b"no database" * 1000):
        file.write_bytes(damaged)
        with pytest.raises(Refusal, match="is damaged; start the run again"):
            resume_run(run, Backends())
    file.write_bytes(content)
    completed(duck_world, run)
    json_record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**json_record, "state": "running"}))
    with pytest.raises(Refusal, match="the state of this run is gone: there is no "):
        resume_run(run, Backends())
