"""What a killed run left on disk, cut at any byte: what is journal is whole cycles, and their answers are read back."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from driver.run.journal import JournalReader, read_cycles, read_journal
from driver.run.poller import Cycle
from driver.run.recording import Recording
from driver.run.resume import cut_back, refuse_gap
from driver.run.summary import late_by, summary
from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS, Answers
from polling_baseline.database.embedded import dead_server as leftovers
from polling_baseline.refusal import Refusal

CYCLES = 6


def answers(kind: str, second: int, rows: int) -> Answers:
    columns = {name: np.arange(rows) for name in ANSWER_KINDS[kind].columns}
    return Answers(kind, {**columns, "second": np.full(rows, second)})


def cycle(second: int, backlog_s: int = 0) -> Cycle:
    steps = {"copy_ms": 1.5, "commit_ms": 0.25}
    return Cycle(range(second, second + 1), 7, second, second + 0.1, second + 0.5, second + 0.6, backlog_s, steps)


def entered(recording: Recording, seconds: range) -> None:
    for second in seconds:
        for kind in ("toll", "accident", "balance"):
            recording.answers(answers(kind, second, second % 3 + 1), second + 0.5)
        recording.cycle(cycle(second))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    recording = Recording(tmp_path, durable=True)
    entered(recording, range(CYCLES))
    recording.close()
    return tmp_path


@pytest.mark.parametrize("size", [1, 7, 50, 1000])
def test_followed_while_it_grows(folder: Path, tmp_path_factory: pytest.TempPathFactory, size: int) -> None:
    """However few bytes come at a time, each cycle is given once, when its line is complete."""
    growing = tmp_path_factory.mktemp("growing")
    reader, followed = JournalReader(growing), []
    assert reader.new_cycles() == []
    whole = (folder / "cycles.csv").read_bytes()
    for start in range(0, len(whole), size):
        with (growing / "cycles.csv").open("ab") as file:
            file.write(whole[start : start + size])
        followed += reader.new_cycles()
    assert followed == read_cycles(folder) and len(followed) == CYCLES


def test_a_cycle_can_be_read_as_soon_as_it_is_entered(tmp_path: Path) -> None:
    """Whoever follows a run need not wait for its end, whether it is durable or not."""
    recording = Recording(tmp_path)
    for second in range(3):
        entered(recording, range(second, second + 1))
        journal = read_journal(tmp_path, CYCLES)
        assert len(journal.cycles) == second + 1 and journal.output_bytes == (tmp_path / "output.csv").stat().st_size
    recording.close()


@pytest.mark.parametrize("name", ["cycles.csv", "output.csv"])
def test_cut_anywhere(folder: Path, name: str) -> None:
    whole = {file: (folder / file).read_bytes() for file in ("cycles.csv", "output.csv")}
    found = set()
    for size in range(0, len(whole[name]) + 1, 3):
        for file, data in whole.items():
            (folder / file).write_bytes(data[:size] if file == name else data)
        journal = read_journal(folder, CYCLES)
        cut_back(folder, journal)
        found.add(len(journal.cycles))
        recording = Recording(folder, False, journal.cycles)
        entered(recording, range(journal.next_second or 0, CYCLES))
        recording.close()
        assert {file: (folder / file).read_bytes() for file in whole} == whole
    assert found >= set(range(CYCLES))


def test_what_is_read_back_is_what_was_measured(folder: Path) -> None:
    journal = read_journal(folder, CYCLES)
    again = Recording(folder, False, journal.cycles, cut_back(folder, journal))
    again.close()
    facts = summary(again, 0.0, spec.DEADLINE_S)
    assert facts["cycles"]["count"] == CYCLES
    assert facts["cycles"]["steps_mean_ms"] == {"copy_ms": 1.5, "commit_ms": 0.25}
    assert {kind: facts["answers"][kind]["received"] for kind in ("toll", "accident", "balance", "expenditure")} == {
        **{"toll": 12, "accident": 12, "balance": 12},
        "expenditure": 0,
    }
    assert facts["answers"]["toll"]["max"] == 0.5


def test_cycles_that_the_engine_has_lost_go_too(folder: Path) -> None:
    journal = read_journal(folder, 4)
    assert (len(journal.cycles), journal.next_second) == (4, 4)
    cut_back(folder, journal)
    assert (folder / "cycles.csv").read_text().count("\n") == 5
    lines = (folder / "output.csv").read_text().splitlines()
    assert max(float(line.split(",")[3 if line[0] == "0" else 2]) for line in lines) == 3.5


def test_a_gap_is_refused(folder: Path) -> None:
    journal = read_journal(folder, 3)
    refuse_gap(journal, range(2, 3), 0, folder)
    refuse_gap(journal, range(3, 5), 0, folder)
    refuse_gap(read_journal(folder, 0), None, 0, folder)
    with pytest.raises(Refusal, match="lacks the answers of seconds 3 to 4"):
        refuse_gap(journal, range(5, 6), 0, folder)


def test_answers_that_an_outage_made_late(tmp_path: Path) -> None:
    """Late ones count from the outage's end until nothing waits; neither those before nor those after."""
    recording = Recording(tmp_path)
    for second, emit, backlog_s in ((0, 6.0, 0), (1, 20.0, 9), (15, 20.5, 0), (16, 21.0, 0), (17, 40.0, 0)):
        recording.answers(answers("toll", second, 2), emit)
        steps = {"copy_ms": 0.0}
        recording.cycle(Cycle(range(second, second + 1), 1, second, second, emit, emit, backlog_s, steps))
    recording.close()
    recorded = recording.cycles, recording.responses, spec.DEADLINE_S
    assert late_by({"from": 6.0, "until": 19.0}, *recorded) == 4
    assert late_by({"from": 6.0, "until": 30.0}, *recorded) == 2


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs /proc")
def test_a_dead_server_that_is_still_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "DYING_S", 0.2)
    with subprocess.Popen(["true"]) as dead:
        deadline = time.monotonic() + 60
        while Path(f"/proc/{dead.pid}/stat").read_text().split()[2] != "Z" and time.monotonic() < deadline:
            time.sleep(0.01)
        assert leftovers.only_a_name(dead.pid, tmp_path)
        with subprocess.Popen(["sleep", "60"], cwd=tmp_path) as child:
            assert not leftovers.only_a_name(dead.pid, tmp_path)
            child.kill()
    assert not leftovers.only_a_name(os.getpid(), tmp_path)
    assert not leftovers.only_a_name(dead.pid, tmp_path)
