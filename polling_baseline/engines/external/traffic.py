"""Two threads beside a run: one writes to the system what waits for it, one reads what comes back.

So a system that reads slowly keeps nobody waiting: what it has not read is held here, up to a limit.  A system that
writes faster than its answers can be kept is made to wait.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable

from polling_baseline.batch import Answers
from polling_baseline.engines.external.lines import MAX_LINE, READY, read_answers
from polling_baseline.wording import printable

PIECE_BYTES = 1 << 20
# Answers that may wait to be taken; a system that writes more is made to wait.
MOST_WAITING = 1 << 21


class Outbox:
    """What is to be written; each part belongs to a second."""

    def __init__(self, descriptor: int, most_bytes: int) -> None:
        self._descriptor, self._most_bytes = descriptor, most_bytes
        self._changed = threading.Condition()
        self._parts: deque[tuple[int, memoryview]] = deque()
        self._closed = False
        self.waiting_bytes = 0
        self.failed = False
        # Seconds that the system has been given whole, and when.
        self._written: list[tuple[int, float]] = []
        self.thread = threading.Thread(target=self._write, name="to the system", daemon=True)
        self.thread.start()

    @property
    def full(self) -> bool:
        return self.waiting_bytes > self._most_bytes

    def put(self, second: int, data: bytes) -> None:
        with self._changed:
            self._parts.append((second, memoryview(data)))
            self.waiting_bytes += len(data)
            self._changed.notify()

    def written(self) -> list[tuple[int, float]]:
        with self._changed:
            written, self._written = self._written, []
            return written

    def close(self, then: Callable[[], None] = lambda: None) -> None:
        """Write what waits, do `then`, and end."""
        with self._changed:
            self._then, self._closed = then, True
            self._changed.notify()

    def _write(self) -> None:
        try:
            while part := self._next():
                second, data = part
                while data:
                    done = os.write(self._descriptor, data[:PIECE_BYTES])
                    data = data[done:]
                    with self._changed:
                        self.waiting_bytes -= done
                with self._changed:
                    self._written.append((second, time.perf_counter()))
            self._then()
        except OSError:
            # The reader knows more about why.
            self.failed = True

    def _next(self) -> tuple[int, memoryview] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._parts or self._closed)
            return self._parts.popleft() if self._parts else None


class Inbox:
    """What has been read: answers with the moment they were read, and the marks that came back."""

    def __init__(self, descriptor: int, first_second: int) -> None:
        self._descriptor = descriptor
        self._changed = threading.Condition()
        self._answers: deque[Answers] = deque()
        self._waiting, self.most_waiting = 0, MOST_WAITING
        self._marks: list[tuple[int, float]] = []
        # The seconds that were sent: none other can have an answer.
        self.sent = range(first_second, first_second)
        self.ready, self.ended = False, False
        self.last_mark = first_second - 1
        # Why nothing more is read, if not because the system has closed its side.
        self.fault: str | None = None
        self._lines = 0
        self._stopping = False
        self.thread = threading.Thread(target=self._read, name="from the system", daemon=True)
        self.thread.start()

    @property
    def full(self) -> bool:
        """Whether as many answers wait as may."""
        return self._waiting >= self.most_waiting

    def wait_for(self, reached: Callable[[], bool], patience_s: float) -> bool:
        """Until it is so, nothing more is read, or patience is at its end; silence counts from the last word."""
        with self._changed:
            while not (reached() or self.fault or self.ended or self.full):
                before = self._lines
                if not self._changed.wait(patience_s) and self._lines == before:
                    break
            return reached()

    def answers(self) -> list[Answers]:
        with self._changed:
            answers, self._answers, self._waiting = list(self._answers), deque(), 0
            self._changed.notify_all()
            return answers

    def marks(self) -> list[tuple[int, float]]:
        with self._changed:
            marks, self._marks = self._marks, []
            return marks

    def close(self) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify_all()

    def _read(self) -> None:
        rest = b""
        try:
            while piece := os.read(self._descriptor, PIECE_BYTES):
                read_at = time.perf_counter()
                end = piece.rfind(b"\n") + 1
                if end and not self._enter(rest + piece[:end], read_at):
                    return
                rest = piece[end:] if end else rest + piece
                if len(rest) > MAX_LINE:
                    self._end(f"line {self._lines + 1} of its output is longer than {MAX_LINE:,} bytes: {_quote(rest)}")
                    return
        except OSError:
            # A connection that was reset: the system has gone.
            pass
        if rest:
            self._end(f"line {self._lines + 1} of its output has no end: {_quote(rest)}")
        else:
            self._end(None)

    def _enter(self, data: bytes, read_at: float) -> bool:
        """Take whole lines; False if one of them ends the run."""
        if not self.ready:
            first, _, data = data.partition(b"\n")
            if first.strip() != READY:
                self._end(f'its first line must be "ready", and it is {_quote(first)}')
                return False
            with self._changed:
                self.ready, self._lines = True, 1
                self._changed.notify_all()
        received = read_answers(data, self.sent, read_at)
        with self._changed:
            self._answers.extend(received.answers)
            self._waiting += sum(map(len, received.answers))
            self._marks += [(second, read_at) for second in received.marks.tolist()]
            self.last_mark = max([self.last_mark, *received.marks.tolist()[-1:]])
            self._lines += received.lines
            self._changed.notify_all()
            if received.bad_line is None:
                self._changed.wait_for(lambda: not self.full or self._stopping)
                return not self._stopping
        self._end(f"line {self._lines + 1} of its output {received.why}: {_quote(received.bad_line)}")
        return False

    def _end(self, fault: str | None) -> None:
        with self._changed:
            self.fault, self.ended = fault, True
            self._changed.notify_all()


def _quote(line: bytes) -> str:
    return f'"{printable(line)}"'
