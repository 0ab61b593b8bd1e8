"""What a command of the kit takes with all its processes: wall time, CPU seconds and memory."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from driver.cli import FAIL_STATUS

PROC = Path("/proc")
SAMPLE_S = 0.2


@dataclass(frozen=True, slots=True)
class Cost:
    """`memory_gib` is the largest sum of proportional set sizes that a sample found; 0 where nobody tells them."""

    wall_s: float
    cpu_s: float
    memory_gib: float

    def __str__(self) -> str:
        return f"{self.cpu_s:.1f} s of CPU, {self.wall_s:.1f} s, {self.memory_gib:.1f} GiB"


def lrb(*words: object) -> Cost:
    """Run a command; a verdict that says FAIL is no failure of it."""
    started_at, cpu_s = time.perf_counter(), _cpu_of_children()
    process = subprocess.Popen([sys.executable, "-m", "driver.cli", *map(str, words)], stdout=subprocess.DEVNULL)
    largest_kib, cpu_by_pid = 0, dict[int, float]()
    while process.poll() is None:
        pids = list(tree_of(process.pid))
        largest_kib = max(largest_kib, sum(map(_share_of_memory, pids)))
        cpu_by_pid |= {pid: used_s for pid in pids if (used_s := _cpu_of(pid))}
        with suppress(subprocess.TimeoutExpired):
            process.wait(SAMPLE_S)
    if process.returncode not in (0, FAIL_STATUS):
        sys.exit(process.returncode)
    # Processes that nobody waited for, as Spark's Python workers, are in the samples only.
    used_s = max(_cpu_of_children() - cpu_s, sum(cpu_by_pid.values()))
    return Cost(time.perf_counter() - started_at, used_s, largest_kib / 2**20)


def _cpu_of(pid: int) -> float:
    """The CPU seconds of a process so far, its children left out; 0 where nobody tells them."""
    with suppress(OSError):
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tree_of(pid: int) -> Iterator[int]:
    """A process and those that it has started, and so on."""
    yield pid
    with suppress(OSError):
        for path in (PROC / str(pid) / "task").glob("*/children"):
            for child in map(int, path.read_text().split()):
                yield from tree_of(child)


def _share_of_memory(pid: int) -> int:
    """Its proportional set size in KiB: pages that processes share are counted once for all of them."""
    with suppress(OSError):
        if match := re.search(r"^Pss:\s+(\d+)", (PROC / str(pid) / "smaps_rollup").read_text(), re.MULTILINE):
            return int(match[1])
    return 0
