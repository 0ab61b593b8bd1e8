"""Input minutes and output lines in, faults and a verdict out, while both still come.

The answers are compared minute by minute with the functions that judge a whole file, so the verdict is the same.
What is held at a time: the minutes whose answers are not all there and may still come in time, and the counts of all.
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
from driver.validate.live.ledger import Ledger, expected_in, ledger_from
from driver.validate.live.right_stream import RightStream
from driver.validate.live.tree_file import Tree, read_tree, write_tree
from driver.validate.overview import EXAMPLE_CUT, MOST_EXAMPLES, Times
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

    def __init__(self, dataset: Dataset, seconds: range, limits: Limits, folder: Path, state: Tree = None) -> None:
        """From the beginning, or from the state that another one had."""
        self._dataset, self._limits, self._folder = dataset, limits, folder
        self._right = RightStream(dataset, seconds, state and state["right"])
        self._minutes = self._right.minutes()
        self._open: dict[int, Ledger] = {NOWHERE: Ledger()}
        # The files of the minutes that are put aside, each written once; and those that a checkpoint needs.
        self._aside, self._files, self._kept = dict[int, str](), 0, set[str]()
        self._counts: dict[int, Counts] = {}
        self._faults: dict[int, dict[str, int]] = {}
        # Answers to minutes that are not over.
        self._ahead: dict[int, list[Columns]] = {}
        self.next_minute = seconds.start // spec.MINUTE_S
        # Minutes to which no answer can be in time any more, or that are complete: each is said once.
        self._said, self._over = self.next_minute, dict[int, MinuteVerdict]()
        self.lines, self.notes = 0, Counter[str]()
        self.examples: list[tuple[int, str]] = []
        if state:
            self._go_on_from(state)

    def state(self) -> Tree:
        """All that it knows but for what is in its files; `keep_files` names them, and keeps them."""
        return {
            "right": self._right.state(),
            "open": {minute: ledger.state() for minute, ledger in self._open.items()},
            "aside": self._aside,
            "files": self._files,
            "counts": {minute: state_of(counts) for minute, counts in self._counts.items()},
            "faults": self._faults,
            "ahead": self._ahead,
            "over": [[minute.minute, minute.expected, list(minute.faults.items())] for minute in self._over.values()],
            "next": [self.next_minute, self._said, self.lines],
            "notes": self.notes,
            "examples": self.examples,
        }

    def _go_on_from(self, state: Tree) -> None:
        self._open = {minute: ledger_from(ledger) for minute, ledger in state["open"].items()}
        self._aside, self._files, self._faults = state["aside"], state["files"], state["faults"]
        self._counts = {minute: counts_from(counts) for minute, counts in state["counts"].items()}
        self._ahead, self.notes = state["ahead"], Counter(state["notes"])
        for minute, expected, faults in state["over"]:
            self._over[minute - 1] = MinuteVerdict(minute, expected, {(kind, fault): n for (kind, fault), n in faults})
        self.next_minute, self._said, self.lines = state["next"]
        self._kept = set(self._aside.values())
        self.examples = [(number, text) for number, text in state["examples"]]

    def keep_files(self) -> list[str]:
        """Those of the minutes that are put aside; they stay until this is called again."""
        self._kept = set(self._aside.values())
        return sorted(self._kept)

    @property
    def has_all_input(self) -> bool:
        return self.next_minute * spec.MINUTE_S >= self._right.seconds.stop

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
            self._open[minute] = self._fetched(minute)
        self._open[minute].news.append(rows)

    def settle(self, now: float) -> list[MinuteVerdict]:
        """Count what is new, put the minutes aside that are complete, and say what came of those that are over."""
        for minute, ledger in list(self._open.items()):
            has_news = bool(ledger.news) or not ledger.tallied
            if has_news:
                self._counts[minute] = ledger.settle(self._limits)
            self._faults[minute] = ledger.faults_by(now, self._limits)
            if minute == NOWHERE:
                continue
            too_late = now > (minute + 1) * spec.MINUTE_S + max(self._limits.values())
            if (ledger.is_complete or too_late) and minute >= self._said:
                self._over[minute] = MinuteVerdict(minute + 1, len(ledger.expected["id"]), ledger.by_kind())
            # Of a system that is late, the next late answer is near.
            if now < math.inf and (ledger.is_complete or (too_late and not has_news)):
                self._put_aside(minute)
        return list(self._in_turn())

    def _put_aside(self, minute: int) -> None:
        self._files += 1
        self._aside[minute] = f"minute-{minute + 1:03d}-{self._files}.npz"
        write_tree(self._folder / self._aside[minute], self._open.pop(minute).state())

    def _fetched(self, minute: int) -> Ledger:
        name = self._aside.pop(minute)
        ledger = ledger_from(read_tree(self._folder / name))
        if name not in self._kept:
            (self._folder / name).unlink()
        return ledger

    def _in_turn(self) -> Iterator[MinuteVerdict]:
        while self._said in self._over:
            yield self._over.pop(self._said)
            self._said += 1

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


def state_of(counts: Counts) -> Tree:
    by_kind = [
        {kind: [times.response_us, times.counts] for kind, times in group.items()}
        for group in (counts.times, counts.all_times)
    ]
    return [counts.counts, *by_kind]


def counts_from(state: Tree) -> Counts:
    counts, *groups = state
    return Counts(counts, *({kind: Times(*times) for kind, times in group.items()} for group in groups))
