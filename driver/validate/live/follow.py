"""Judge a run while it goes on: its data set is the input, its folder has the answers.

The journal says which seconds the system was given and how much of the output is complete.  Both files only grow, and a
run that was killed and goes on is cut back to where its journal ends; so what was read stays true.  The judge has no
checkpoint of its own: started again, it reads again what there is, which takes seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from driver.run.journal import JournalReader
from driver.run.judge_status import FORMAT, JudgeStatus, write_status
from driver.run.record import read_run, seconds_of
from driver.run.verdict import Verdict
from driver.validate.judge import Question, verdict_of
from driver.validate.live.live_judge import LiveJudge
from driver.validate.odd_lines import MALFORMED
from driver.validate.tally import answer_verdicts
from polling_baseline import spec
from polling_baseline.scratch import scratch

POLL_S, STATUS_S = 0.25, 1.0
# Read at a time.
PIECE = 1 << 22


class Follower:
    """Reads what a run has written since it was last asked."""

    def __init__(self, folder: Path, question: Question) -> None:
        self._folder, self._question = folder, question
        self._journal = JournalReader(folder)
        self._output_bytes, self._now = 0, float(question.seconds.start)
        self._written_at = 0.0
        self.judge = LiveJudge(question.dataset, question.seconds, question.limits, scratch("judge"))

    def read(self) -> None:
        """Judge what is new."""
        cycles = self._journal.new_cycles()
        if cycles:
            self._now = max(self._now, *(cycle.committed for cycle in cycles))
            self.judge.take_input(cycles[-1].seconds.stop)
        if self._read_output(self._journal.output_bytes) or cycles:
            self.judge.settle(self._now)
        if time.monotonic() - self._written_at >= STATUS_S:
            self.write_status()

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
        self._read_output(float("inf"))
        self.judge.end(seconds)
        self.write_status()
        return live_verdict(self._question, self.judge)

    def write_status(self) -> None:
        self._written_at = time.monotonic()
        judge = self.judge
        first = self._question.seconds.start // spec.MINUTE_S
        status: JudgeStatus = {
            "format": FORMAT,
            "minutes": [first + 1, judge.next_minute],
            "faults": {**judge.faults, MALFORMED: judge.notes[MALFORMED]},
            "open_answers": judge.open_answers,
            "second": round(self._now, 3),
            "cpu_s": round(time.process_time(), 3),
        }
        write_status(self._folder, status)


def follow(folder: Path, question: Question, goes_on: Callable[[], bool] = lambda: True) -> Verdict | None:
    """The verdict on a run when it is over; nothing if it is not, and `goes_on` says that nobody waits for it."""
    follower = Follower(folder, question)
    with closing(follower.judge):
        while (record := read_run(folder))["state"] == "running":
            if not goes_on():
                return None
            follower.read()
            time.sleep(POLL_S)
        return follower.end(seconds_of(record))


def live_verdict(question: Question, judge: LiveJudge) -> Verdict:
    counts = judge.counts
    answers = answer_verdicts(counts.all_times, counts, question.limits)
    return verdict_of(question, answers, judge.lines, judge.notes, judge.examples)
