"""Input minutes and output lines in, faults and a verdict out, while both still come.

The answers are compared minute by minute with the functions that judge a whole file, so the verdict is the same.
What is held at a time: the minutes whose answers are not all there, and the counts of all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import numpy as np

from driver.dataset.folder import Dataset
from driver.run.limits import Limits
from driver.run.verdict import FAULTS
from driver.validate.live.ledger import Ledger, expected_in, fetch
from driver.validate.live.right_stream import RightStream
from driver.validate.overview import EXAMPLE_CUT, MOST_EXAMPLES
from driver.validate.received import read_block
from driver.validate.reference.trips import joined
from driver.validate.tally import CAME, Counts, no_counts
from polling_baseline import spec
from polling_baseline.batch import Columns

# Answers to seconds that the run does not have.
NOWHERE = -1


@dataclass(frozen=True, slots=True)
class MinuteVerdict:
    """What came of one minute's input: how many answers were expected, and the faults by kind and name."""

    minute: int
    expected: int
    faults: dict[tuple[str, str], int]


class LiveJudge:
    """Judges a part of a data set; `folder` holds the minutes that are put aside."""

    def __init__(self, dataset: Dataset, seconds: range, limits: Limits, folder: Path) -> None:
        self._dataset, self._limits, self._folder = dataset, limits, folder
        self._right = RightStream(dataset, seconds)
        self._minutes = self._right.minutes()
        self._open: dict[int, Ledger] = {NOWHERE: Ledger()}
        self._counts: dict[int, Counts] = {}
        self._faults: dict[int, dict[str, int]] = {}
        # Answers to minutes that are not over.
        self._ahead: dict[int, list[Columns]] = {}
        self.next_minute = seconds.start // spec.MINUTE_S
        # Minutes to which no answer can be in time any more, or that are complete: each is said once.
        self._said, self._over = self.next_minute, dict[int, MinuteVerdict]()
        self.lines, self.notes = 0, Counter[str]()
        self.examples: list[tuple[int, str]] = []

    def take_input(self, until_second: int) -> None:
        """The input before that second has been given to the system: minutes that are over can be judged."""
        while until_second >= min((self.next_minute + 1) * spec.MINUTE_S, self._right.seconds.stop):
            right = next(self._minutes, None)
            if right is None:
                return
            news = self._ahead.pop(right.minute, [])
            self._open[right.minute] = Ledger(expected_in(self._dataset, right), right.accounts, news=news)
            self.next_minute += 1

    def end(self, seconds: range) -> list[MinuteVerdict]:
        """No answer will come any more; the system has to answer for these seconds, as many as before or fewer."""
        self._right.seconds = seconds
        self.take_input(seconds.stop)
        for rows in (rows for parts in self._ahead.values() for rows in parts):
            self._open[NOWHERE].news.append(rows)
        self._ahead.clear()
        return self.settle(math.inf)

    def take_output(self, data: bytes) -> None:
        """Whole lines of the output, which follow those taken before."""
        block = read_block(data)
        for kind, columns in block.answers.items():
            rows = {
                **columns,
                "kind": np.full(len(columns["id"]), kind, np.int8),
                "line": self.lines + 1 + columns["at"],
            }
            for minute, part in _by_minute(rows):
                self._enter(minute, part)
        self.notes += block.notes
        for at, text in block.odd[: MOST_EXAMPLES - len(self.examples)]:
            self.examples.append((self.lines + 1 + at, text[:EXAMPLE_CUT]))
        self.lines += block.lines

    def _enter(self, minute: int, rows: Columns) -> None:
        seconds = self._right.seconds
        if not seconds.start // spec.MINUTE_S <= minute <= seconds[-1] // spec.MINUTE_S:
            minute = NOWHERE
        elif minute >= self.next_minute:
            self._ahead.setdefault(minute, []).append(rows)
            return
        if minute not in self._open:
            self._open[minute] = fetch(self._put_aside(minute))
        self._open[minute].news.append(rows)

    def settle(self, now: float) -> list[MinuteVerdict]:
        """Count what is new, put the minutes aside that are complete, and say what came of those that are over."""
        longest_s = max(self._limits.values())
        for minute, ledger in list(self._open.items()):
            if ledger.news or minute not in self._counts:
                self._counts[minute] = ledger.settle(self._limits)
            self._faults[minute] = ledger.faults_by(now, self._limits)
            if minute == NOWHERE:
                continue
            is_over = ledger.is_complete or now > (minute + 1) * spec.MINUTE_S + longest_s
            if is_over and minute >= self._said:
                self._over[minute] = MinuteVerdict(minute + 1, len(ledger.expected["id"]), ledger.by_kind())
            if ledger.is_complete:
                ledger.save(self._put_aside(minute))
                del self._open[minute]
        return list(self._in_turn())

    def _in_turn(self) -> Iterator[MinuteVerdict]:
        while self._said in self._over:
            yield self._over.pop(self._said)
            self._said += 1

    def _put_aside(self, minute: int) -> Path:
        return self._folder / f"minute-{minute:03d}.npz"

    @property
    def faults(self) -> dict[str, int]:
        """How many of each kind there are so far."""
        return {fault: sum(faults[fault] for faults in self._faults.values()) for fault in FAULTS}

    @property
    def counts(self) -> Counts:
        return reduce(lambda one, other: one + other, self._counts.values(), no_counts())

    @property
    def open_answers(self) -> int:
        return sum(len(ledger.expected["id"]) for ledger in self._open.values())

    def close(self) -> None:
        self._right.close()


def _by_minute(rows: Columns) -> Iterator[tuple[int, Columns]]:
    """The answers to each minute's input."""
    minutes = rows["second"] // spec.MINUTE_S
    order = np.argsort(minutes, kind="stable")
    borders = np.flatnonzero(np.diff(minutes[order])) + 1
    for part in np.split(order, borders):
        yield int(minutes[part[0]]), joined([{name: rows[name][part] for name in CAME}], CAME)
