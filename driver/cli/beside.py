"""A command of the kit beside a run: a process of its own, which yields to the run."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import driver
from polling_baseline.refusal import Refusal

# The packages may lie in a checkout or in a wheel: the same ones are taken, wherever the command is started.
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from driver.cli.__main__ import run; run()"
# How long to wait for a run to begin, and for a process to end.
BEGIN_S, END_S = 600.0, 10.0
LOWEST_PRIORITY = 19


def start_beside(words: Sequence[object]) -> subprocess.Popen[bytes]:
    """Start `lrb` with these words, and with `--beside` and this process; a Ctrl-C in the terminal is not for it."""
    command = [sys.executable, "-c", START, str(Path(driver.__file__).parents[1])]
    return subprocess.Popen(
        [*command, *map(str, words), "--beside", str(os.getpid())], stdin=subprocess.DEVNULL, start_new_session=True
    )


def end_beside(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def version_of_run(folder: Path) -> int:
    """Another number once `run.json` was written again; 0 while there is none."""
    from driver.run.record import NAME

    with suppress(FileNotFoundError):
        return (folder / NAME).stat().st_mtime_ns
    return 0


def wait_for_run(folder: Path, beside: int, before: int = 0) -> bool:
    """Give way to the run, and wait until it has begun; whether it has, while the process that makes it lives.

    One that goes on has begun when its version is no longer the one of `before`.
    """
    os.nice(LOWEST_PRIORITY)
    until = time.monotonic() + BEGIN_S
    while version_of_run(folder) in (0, before):
        if not is_beside(beside):
            return False
        if time.monotonic() > until:
            raise Refusal(f"{folder} has not begun after {BEGIN_S:g} s")
        time.sleep(0.2)
    return True


def is_beside(beside: int) -> bool:
    """Whether the process that started this one still lives."""
    return os.getppid() == beside
