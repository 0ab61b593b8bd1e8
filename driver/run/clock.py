"""The run's clock: one code path, two ways to wait.

On the real clock, waiting takes time.  On the virtual one it is skipped, and only work takes time: a run goes as fast
as the engine can, and its response times and its backlog are those that a real-time run would show.  With `slower`,
they are those of an engine that takes so many times as long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Clock:
    """Seconds since the start of the run; second t of the input arrives at t."""

    def __init__(
        self,
        kind: str,
        start: float = 0.0,
        counter: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
        slower: float = 1.0,
    ) -> None:
        self.kind = kind
        self._slower = slower
        self._counter = counter
        self._sleep = sleep
        self._zero = counter() - start
        # The end of the engine's last work, by the machine's clock and by this one.
        self._work_end = counter(), start

    def now(self) -> float:
        return self._counter() - self._zero

    def wait_until(self, moment: float) -> None:
        if (pause := moment - self.now()) > 0:
            if self.kind == "virtual":
                self._zero -= pause
            else:
                self._sleep(pause)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """What the driver does here is done in idle time on the real clock; on the virtual one it takes none."""
        before = self.now()
        yield
        if self.kind == "virtual":
            self._zero += self.now() - before

    @contextmanager
    def engine_at_work(self) -> Iterator[None]:
        """What is done here takes `slower` times as long."""
        before = self._counter()
        yield
        end = self._counter()
        self._zero -= (self._slower - 1) * (end - before)
        self._work_end = end, end - self._zero

    def reader(self) -> Callable[[float], float]:
        """Tells what this clock showed at a moment of the machine's clock, in the engine's last work or near it."""
        end, shown = self._work_end
        return lambda moment: shown - self._slower * (end - moment)
