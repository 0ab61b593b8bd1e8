"""A progress bar on stderr for whatever takes longer than two seconds; plain lines when piped.

Until the first step is done it says that the work is starting: a long "0%" says nothing.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, Task, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

log = logging.getLogger("lrb")
PLAIN_PERIOD_S = 10.0
STARTING = "starting"

Advance = Callable[[float], None]


@contextmanager
def progress(what: str, total: float) -> Iterator[Advance]:
    """Give a function that moves the bar on by so much of `total`."""
    if sys.stderr.isatty():
        columns = (TextColumn("{task.description}"), BarColumn(), _Percentage(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            # Without a total the bar pulses.
            task = bar.add_task(what, total=None)
            yield lambda amount: bar.update(task, total=total, advance=amount) if amount else None
        return
    done, said_at = 0.0, time.monotonic()

    def advance(amount: float) -> None:
        nonlocal done, said_at
        done += amount
        if time.monotonic() - said_at >= PLAIN_PERIOD_S:
            said_at = time.monotonic()
            log.info("%s: %s", what, f"{done / total:.0%}" if done else STARTING)

    yield advance


class _Percentage(TaskProgressColumn):
    def render(self, task: Task) -> Text:
        return super().render(task) if task.completed else Text(STARTING)
