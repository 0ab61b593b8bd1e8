"""Judge a run while it goes on: faults show as soon as a minute and the longest limit are over.

The right answers follow from the data set, which is there as a whole; so they are computed first.  Then the output is
read as it grows, by the same steps as a finished one.  The verdict in the end is that of the judge on what was read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from driver.run.verdict import FAULTS
from driver.validate.fingerprint import PLACES
from driver.validate.judge import Question, compare_cells
from driver.validate.odd_lines import SECOND_US
from driver.validate.overview import Measure, differing_cells, no_overview, overview_of, put_together
from driver.validate.reference.right_answers import RightAnswers
from driver.validate.tally import COUNTS
from polling_baseline import spec

# A line end is sought so far from the end of the file.
TAIL = 1 << 16


@dataclass(frozen=True, slots=True)
class MinuteVerdict:
    """What came of one minute's input: how many answers were expected, and the faults by kind and name."""

    minute: int
    expected: int
    faults: dict[tuple[str, str], int]


class Follower:
    """Reads an output as it grows, and says of each minute what came of it."""

    def __init__(self, right: RightAnswers, question: Question) -> None:
        self._right, self._question = right, question
        self._output = question.output.absolute()
        self._measure = Measure(right.dataset, right.seed, right.accounts, question.limits)
        self._begin()

    def _begin(self) -> None:
        self._read = 0
        self._next = spec.minute_of(self._question.seconds.start)
        self.overview = no_overview()

    def read_on(self, to_the_end: bool = False) -> None:
        """Take the lines that are complete by now; begin anew if the file has become shorter."""
        size = self._output.stat().st_size if self._output.exists() else 0
        if size < self._read:
            self._begin()
        stop = size if to_the_end else self._last_line_end(size)
        if stop > self._read:
            more = overview_of(self._measure, self._output, self._read, stop)
            self.overview = put_together([self.overview, more])
            self._read = stop

    def _last_line_end(self, size: int) -> int:
        start = max(self._read, size - TAIL)
        if start >= size:
            return self._read
        with self._output.open("rb") as file:
            file.seek(start)
            end = file.read(size - start).rfind(b"\n")
        return self._read if end < 0 else start + end + 1

    def minutes_over(self, all_of_them: bool = False) -> Iterator[MinuteVerdict]:
        """The minutes that no answer can be in time for any more, by the latest Emit, each once."""
        last = spec.minute_of(self._question.seconds.stop - 1)
        longest = max(self._question.limits.values())
        while self._next <= last and (
            all_of_them or self.overview.latest_us > (self._next * spec.MINUTE_S + longest) * SECOND_US
        ):
            yield self._judge(self._next)
            self._next += 1

    def _judge(self, minute: int) -> MinuteVerdict:
        expected = sum(int(heap.counts[minute - 1]) for heap in self._right.heaps.values())
        cells = differing_cells(self._right, self.overview) | self.overview.out_of_time
        cells &= np.arange(PLACES) == minute - 1
        faults: dict[tuple[str, str], int] = {}
        if cells.any():
            counts = compare_cells(self._question, self._right, self.overview, cells).count().counts
            by_name = {name: counts[:, COUNTS.index(name)] for name in FAULTS}
            for fault, numbers in by_name.items():
                for kind, number in zip(spec.ANSWERS, numbers.tolist(), strict=True):
                    if number:
                        faults[kind, fault] = number
        return MinuteVerdict(minute, expected, faults)
