"""What is said while something takes long."""

from __future__ import annotations

import logging
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress

from driver import progress
from tests.conftest import ROOT

WORK = """
import time
from driver.progress import progress
with progress("generate", 8) as advance:
    for amount in (0, 2):
        advance(amount)
        time.sleep(0.3)
"""


def test_plain_lines_say_that_it_starts_and_then_how_far_it_is(caplog, monkeypatch):
    caplog.set_level(logging.INFO, "lrb")
    monkeypatch.setattr(progress, "PLAIN_PERIOD_S", 0.0)
    with progress.progress("generate", 8) as advance:
        for amount in (0, 1, 0, 7):
            advance(amount)
    assert caplog.messages == [
        "generate: starting",
        "generate: 12%",
        "generate: 12%",
        "generate: 100%",
    ]


def test_the_bar_of_a_terminal_never_stands_at_zero():
    """In a terminal of its own, as wide as most."""
    terminal, side = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "TERM": "xterm"}
    subprocess.run([sys.executable, "-c", WORK], stderr=side, env=environment, check=True)
    os.close(side)
    shown = b""
    with suppress(OSError):
        while part := os.read(terminal, 1 << 16):
            shown += part
    os.close(terminal)
    assert re.search(rb"generate.+starting.+ 25%", shown, re.DOTALL)
    assert b" 0%" not in shown
