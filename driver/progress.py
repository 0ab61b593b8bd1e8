"""A progress bar on stderr for whatever takes longer than two seconds; plain lines when piped."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

PLAIN_PERIOD_S = 10.0

Advance = Callable[[float], None]


@contextmanager
def progress(what: str, total: float) -> Iterator[Advance]:
    """Give a function that moves the bar on by so much of `total`."""
    if sys.stderr.isatty():
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda amount: bar.advance(task, amount)
        return
    done, said_at = 0.0, time.monotonic()

    def advance(amount: float) -> None:
        nonlocal done, said_at
        done += amount
        if done and time.monotonic() - said_at >= PLAIN_PERIOD_S:
            said_at = time.monotonic()
            print(f"{what}: {done / total:.0%}", file=sys.stderr)

    yield advance
