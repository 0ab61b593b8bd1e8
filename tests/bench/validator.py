"""What a verdict takes, PASS or FAIL: from three hours of one expressway, or of several; Spark's start included.

`python -m tests.bench.validator 1 4` measures whether it grows in proportion to the expressways.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from driver.cli import FAIL_STATUS

LIMIT_S = 60


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took with all its processes."""

    wall_s: float
    cpu_s: float

    def __str__(self) -> str:
        return f"{self.wall_s:.1f} s, {self.cpu_s:.1f} s of CPU"


def main(*xways: str) -> None:
    """Judge the right output of a generated data set for each number of expressways, and print what that took."""
    with tempfile.TemporaryDirectory() as name:
        road, output = Path(name) / "road", Path(name) / "output.csv"
        _lrb("generate", "--xways", "0.5", "--minutes", "2", "--history-days", "1", "--out", road)
        start = _judged(road, output, "start-up")
        costs = {}
        for number in xways or ("1",):
            _lrb("generate", "--force", "--xways", number, "--out", road)
            costs[float(number)] = _judged(road, output, f"L = {number}")
    peak_gib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    print(f"largest process {peak_gib:.1f} GiB (to keep: {LIMIT_S} s for L = 1, 8 GiB)")
    (one, first), *others = costs.items()
    for number, cost in others:
        ratio = (cost.cpu_s - start.cpu_s) / (first.cpu_s - start.cpu_s)
        print(f"L = {number:g} takes {ratio:.2f} times the CPU of L = {one:g}, less start-up")


def _judged(road: Path, output: Path, name: str) -> Cost:
    _lrb("expected", road, "--out", output)
    cost = _lrb("validate", road, "--output", output)
    lines = output.read_bytes().splitlines(keepends=True)
    at = next(number for number in range(len(lines) // 2, len(lines)) if lines[number].startswith(b"0,"))
    lines[at] = lines[at].rstrip(b"\n") + b"1\n"
    output.write_bytes(b"".join(lines))
    failing = _lrb("validate", road, "--output", output)
    print(f"{name}: {len(lines):,} answers, all right {cost}; one of them wrong {failing}", flush=True)
    return cost


def _lrb(*words: object) -> Cost:
    started_at, cpu_s = time.perf_counter(), _cpu_of_children()
    done = subprocess.run([sys.executable, "-m", "driver.cli", *map(str, words)], stdout=subprocess.DEVNULL)
    if done.returncode not in (0, FAIL_STATUS):
        sys.exit(done.returncode)
    return Cost(time.perf_counter() - started_at, _cpu_of_children() - cpu_s)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main(*sys.argv[1:])
