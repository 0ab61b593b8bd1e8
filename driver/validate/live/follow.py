"""Judge a run while it goes on: its data set is the input, its folder has the answers.

The journal says which seconds the system was given and how much of the output is complete.  Both files only grow, and a
run that was killed and goes on is cut back to where its journal ends; so what was read stays true.  Once a minute the
judge keeps its state in the run's folder; one that is started again goes on from there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from driver.run.journal import JournalReader
from driver.run.judge_status import FORMAT, JudgeStatus, count_faults, write_status
from driver.run.record import read_run, seconds_of
from driver.run.verdict import Verdict
from driver.validate.judge import Question, lines_of, verdict_of
from driver.validate.live.checkpoint import Checkpoint
from driver.validate.live.live_judge import LiveJudge, MinuteVerdict
from driver.validate.live.tree_file import Tree
from driver.validate.odd_lines import MALFORMED
from driver.validate.tally import answer_verdicts
from polling_baseline import spec

POLL_S, STATUS_S, KEEP_S = 0.25, 1.0, 60.0
# Read at a time.
PIECE = 1 << 22
Announce = Callable[[MinuteVerdict], None]


class Follower:
    """Reads what a run has written since it was last asked; `announce` hears what came of each minute."""

    def __init__(self, folder: Path, question: Question, announce: Announce, stops_run: bool = False) -> None:
        self._folder, self._question, self._announce, self._stops_run = folder, question, announce, stops_run
        self._written_at, self._kept_at = 0.0, time.monotonic()
        self._checkpoint, self._key = Checkpoint(folder), _key(folder, question)
        state = self._checkpoint.read(self._key) or {}
        self._journal = JournalReader(folder, *state.get("journal", ()))
        self._output_bytes = state.get("output_bytes", 0)
        self._now = state.get("now", float(question.seconds.start))
        self.judge = LiveJudge(
            question.dataset, question.seconds, question.limits, self._checkpoint.folder, state.get("judge")
        )

    def read(self) -> JudgeStatus | None:
        """Judge what is new, and give what `judge.json` then says, if it was written."""
        cycles = self._journal.new_cycles()
        if cycles:
            self._now = max(self._now, *(cycle.committed for cycle in cycles))
            self.judge.take_input(cycles[-1].seconds.stop)
        if self._read_output(self._journal.output_bytes) or cycles:
            self._say(self.judge.settle(self._now))
            self._keep()
        return self._write_status() if time.monotonic() - self._written_at >= STATUS_S else None

    def _keep(self) -> None:
        """Write a checkpoint now and then; at the end of the input, the verdict is near."""
        if time.monotonic() - self._kept_at >= KEEP_S and not self.judge.has_all_input:
            state = {
                "journal": [self._journal.length, self._journal.output_bytes],
                "output_bytes": self._output_bytes,
                "now": self._now,
                "judge": self.judge.state(),
            }
            self._checkpoint.write(self._key, state, self.judge.keep_files())
            self._kept_at = time.monotonic()

    def close(self, done: bool) -> None:
        self.judge.close()
        self._checkpoint.close(done)

    def _say(self, minutes: Sequence[MinuteVerdict]) -> None:
        for minute in minutes:
            self._announce(minute)

    def _read_output(self, until: float) -> bool:
        """Take the lines up to that byte; whether there were any."""
        before = self._output_bytes
        if not self._question.output.exists():
            return False
        with self._question.output.open("rb") as file:
            file.seek(before)
            while (left := until - self._output_bytes) > 0 and (data := file.read(int(min(PIECE, left)))):
                data += b"" if data.endswith(b"\n") else file.readline()
                self.judge.take_output(data)
                self._output_bytes += len(data)
        return self._output_bytes > before

    def end(self, seconds: range) -> Verdict:
        """The run is over: what it has not answered is missing."""
        self.read()
        self._read_output(math.inf)
        self._say(self.judge.end(seconds))
        self._write_status()
        return live_verdict(self._question, self.judge, seconds)

    def _write_status(self) -> JudgeStatus:
        self._written_at = time.monotonic()
        judge = self.judge
        status: JudgeStatus = {
            "format": FORMAT,
            "minutes": [spec.minute_of(self._question.seconds.start), judge.next_minute],
            "faults": {**judge.faults, MALFORMED: judge.notes[MALFORMED]},
            "open_answers": judge.open_answers,
            "second": round(self._now, 3),
            "cpu_s": round(time.process_time(), 3),
            "stops_run": False,
        }
        status["stops_run"] = self._stops_run and count_faults(status) > 0
        write_status(self._folder, status)
        return status


def follow(
    folder: Path,
    question: Question,
    announce: Announce,
    goes_on: Callable[[JudgeStatus | None], bool] = lambda status: True,
    stops_run: bool = False,
) -> Verdict | None:
    """The verdict on a run when it is over; nothing if `goes_on` says before that nobody waits for it.

    With `stops_run`, `judge.json` says that the run is to be stopped once there is a fault.
    """
    follower, verdict = Follower(folder, question, announce, stops_run), None
    try:
        while (record := read_run(folder))["state"] == "running":
            if not goes_on(follower.read()):
                return None
            time.sleep(POLL_S)
        verdict = follower.end(seconds_of(record))
        return verdict
    finally:
        follower.close(done=verdict is not None)


def _key(folder: Path, question: Question) -> Tree:
    """What must be the same for a judge to go on from where another one was."""
    dataset, seconds = question.dataset, question.seconds
    return {
        "run": read_run(folder).get("zero_at"),
        "dataset": [dataset.identity, dataset.xways, sorted(dataset.ignored)],
        "seconds": [seconds.start, seconds.stop],
        "limits": question.limits,
    }


def live_verdict(question: Question, judge: LiveJudge, seconds: range) -> Verdict:
    """What the judge of a file would say; the system has to answer for these seconds."""
    counts = judge.counts
    answers = answer_verdicts(counts.all_times, counts, question.limits)
    return verdict_of(replace(question, seconds=seconds), answers, lines_of(judge.lines, judge.notes, judge.examples))
