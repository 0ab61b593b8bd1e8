"""What a verdict takes, PASS or FAIL: from three hours of one expressway, or of several; Spark's start included.

`python -m tests.bench.validator 1 4` measures whether it grows in proportion to the expressways.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.bench.cost import Cost, lrb

GOALS = "to keep: 25 s of CPU, 18 s, 2.5 GiB for L = 1; 12 s of CPU, 8 s for 20 minutes; a quarter more to FAIL"
ROADS = {
    "start-up": ("--xways", "0.5", "--minutes", "2", "--history-days", "1"),
    "20 minutes of L = 0.5": ("--xways", "0.5", "--minutes", "20"),
}


def main(*xways: str) -> None:
    """Judge the right output of a generated data set for each number of expressways, and print what that took."""
    roads = {**ROADS, **{f"L = {number}": ("--xways", number) for number in xways or ("1",)}}
    with tempfile.TemporaryDirectory() as name:
        road, output = Path(name) / "road", Path(name) / "output.csv"
        costs = {}
        for title, words in roads.items():
            lrb("generate", "--force", *words, "--out", road)
            costs[title] = _judged(road, output, title)
    print(GOALS)
    start, _, first, *others = costs.values()
    for number, cost in zip(xways[1:], others, strict=True):
        ratio = (cost.cpu_s - start.cpu_s) / (first.cpu_s - start.cpu_s)
        print(f"L = {number} takes {ratio:.2f} times the CPU of L = {xways[0]}, less start-up")


def _judged(road: Path, output: Path, name: str) -> Cost:
    expected = lrb("expected", road, "--out", output)
    cost = lrb("validate", road, "--output", output)
    lines = output.read_bytes().splitlines(keepends=True)
    at = next(number for number in range(len(lines) // 2, len(lines)) if lines[number].startswith(b"0,"))
    lines[at] = lines[at].rstrip(b"\n") + b"1\n"
    output.write_bytes(b"".join(lines))
    failing = lrb("validate", road, "--output", output)
    took = {"lrb expected": expected, "all right": cost, "one of them wrong": failing}
    print(f"{name}: {len(lines):,} answers")
    for what, taken in took.items():
        print(f"  {what}: {taken}", flush=True)
    return cost


if __name__ == "__main__":
    main(*sys.argv[1:])
