"""What a run shows while it goes: a panel in a terminal, a line now and then when piped."""

from __future__ import annotations

import logging
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

from driver.run.journal import step_name
from driver.run.judge_status import count_faults, describe_status, read_status
from driver.run.limits import Limits
from driver.run.poller import Cycle
from polling_baseline.wording import format_seconds

log = logging.getLogger("lrb")
PLAIN_PERIOD_S = 10.0
PANEL_PERIOD_S = 0.25
RATE_CYCLES = 10


class LiveView:
    """Told of each cycle; draws at most a few times a second."""

    def __init__(self, seconds: range, period_s: float, limits: Limits, folder: Path) -> None:
        self._seconds, self._period_s, self._limits, self._folder = seconds, period_s, limits, folder
        self._worst: dict[str, float] = {}
        self._recent: deque[Cycle] = deque(maxlen=RATE_CYCLES)
        self._drawn_at = time.monotonic()
        terminal = sys.stderr.isatty()
        self._live = Live(console=Console(stderr=True), auto_refresh=False, transient=True) if terminal else None

    def __enter__(self) -> LiveView:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def answered(self, kind: str, longest_s: float) -> None:
        self._worst[kind] = max(longest_s, self._worst.get(kind, 0.0))

    def cycle(self, cycle: Cycle, now: float) -> None:
        self._recent.append(cycle)
        wait = PANEL_PERIOD_S if self._live else PLAIN_PERIOD_S
        if time.monotonic() - self._drawn_at >= wait:
            self._drawn_at = time.monotonic()
            if self._live:
                self._live.update(self._panel(cycle), refresh=True)
            else:
                log.info(self._line(cycle))

    def _rate(self) -> float:
        rows = sum(cycle.rows for cycle in self._recent)
        return rows / max(1, sum(len(cycle.seconds) for cycle in self._recent))

    def _line(self, cycle: Cycle) -> str:
        worst = " ".join(
            f"{kind} {format_seconds(s, self._limits[kind], 2)}/{self._limits[kind]}" for kind, s in self._worst.items()
        )
        status = read_status(self._folder)
        judge = f"   judge: {describe_status(status)}" if status else ""
        return (
            f"{_clock(cycle.seconds[-1])} of {_clock(self._seconds[-1])}   {self._rate():,.0f} tuples/s   "
            f"backlog {cycle.backlog_s} s   cycle {(cycle.ended - cycle.started) * 1000:.0f} ms   "
            f"longest (s): {worst}{judge}"
        )

    def _panel(self, cycle: Cycle) -> Table:
        table = Table.grid(padding=(0, 2))
        steps = "  ".join(f"{step_name(name)} {ms:.1f}" for name, ms in cycle.steps.items())
        rows: list[tuple[str, Any]] = [
            ("simulated time", f"{_clock(cycle.seconds[-1])} of {_clock(self._seconds[-1])}"),
            ("input", f"{self._rate():,.0f} tuples/s"),
            ("backlog", f"{cycle.backlog_s} s"),
            ("last cycle", f"{(cycle.ended - cycle.started) * 1000:.1f} of {self._period_s * 1000:.0f} ms"),
            ("  by step (ms)", steps),
        ]
        for kind, seconds in self._worst.items():
            limit = self._limits[kind]
            colour = "red" if seconds > limit else "green"
            rows.append((f"longest {kind}", f"[{colour}]{format_seconds(seconds, limit)} s[/] of {limit} s"))
        if status := read_status(self._folder):
            rows.append(("judge", f"[{'red' if count_faults(status) else 'green'}]{describe_status(status)}[/]"))
        for row in rows:
            table.add_row(*row)
        return table


def _clock(second: int) -> str:
    return f"{second // 3600}:{second // 60 % 60:02d}:{second % 60:02d}"
