"""The lines to and from a foreign system: how many the driver writes and reads in a second, beside a pipe into cat."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from polling_baseline.batch import REPORT_COLUMNS, REQUEST_COLUMNS, Batch, Share
from polling_baseline.engines.external.channel import Program
from polling_baseline.engines.external.engine import External
from polling_baseline.engines.external.lines import read_answers, warm_up, write_batch

# A second of L = 100, and the answers to it; a reading takes so many of them.
LINES, ANSWERS, SECONDS, READINGS = 200_000, 60_000, 10, 3

# Reads all lines and echoes all marks; as little as a system can do.
SINK = r"""
import os, re
os.write(1, b"ready\n")
rest = b""
while piece := os.read(0, 1 << 20):
    *_, rest = (text := rest + piece).rsplit(b"\n", 1)
    for mark in re.findall(rb"^mark \d+$", text, re.M) if b"mark" in text[: len(text) - len(rest)] else ():
        os.write(1, mark + b"\n")
"""
# Answers each mark with so many lines.
SOURCE = f"""
import sys
print("ready", flush=True)
for line in sys.stdin:
    if line.startswith("mark"):
        second = line.split()[1]
        print(f"0,123456,{{second}},-1,38,98\\n" * {ANSWERS}, line, sep="", end="", flush=True)
"""


def main() -> None:
    warm_up()
    batches = [_batch(second) for second in range(SECONDS)]
    answers = b"0,123456,7,-1,38,98\n" * ANSWERS
    nothing = [_batch(second, 0) for second in range(SECONDS)]
    _print("lines written, in memory", LINES, lambda: [write_batch(batch, True) for batch in batches])
    _print("answers read, in memory", ANSWERS, lambda: [read_answers(answers, range(10), 0.0) for _ in batches])
    _print("lines into a pipe that is read", LINES, _through(SINK, batches))
    _print("lines into cat > /dev/null", LINES, _into_cat(batches))
    _print("answers out of a pipe", ANSWERS, _through(SOURCE, nothing))


def _print(what: str, per_second: int, work: Callable[[], object]) -> None:
    rates = []
    for _ in range(READINGS):
        started = time.perf_counter()
        work()
        rates.append(SECONDS * per_second / (time.perf_counter() - started))
    print(f"{what:<32} {', '.join(f'{rate:>10,.0f}' for rate in sorted(rates))} per second")


def _batch(second: int, lines: int = LINES) -> Batch:
    rng = np.random.default_rng(second)
    reports = {name: rng.integers(0, 100, lines) for name in REPORT_COLUMNS}
    reports |= {"second": np.full(lines, second), "vehicle_id": rng.integers(0, 1 << 27, lines)}
    reports |= {"position_ft": rng.integers(0, 528_000, lines)}
    return Batch(
        range(second, second + 1), (Share(reports, {name: np.zeros(0, np.int64) for name in REQUEST_COLUMNS}),)
    )


def _through(program: str, batches: list[Batch]) -> Callable[[], None]:
    """All batches to a program, second by second, as on the virtual clock."""
    engine = External("exec", Program(shlex.join([sys.executable, "-c", program])), lambda _: {}, range(SECONDS * 10))

    def work() -> None:
        engine.install()
        for batch in batches:
            engine.process(batch)
            list(engine.answers())
        engine.stop()

    return work


def _into_cat(batches: list[Batch]) -> Callable[[], None]:
    """The same bytes, which are there already."""
    data = [write_batch(batch, True) for batch in batches]

    def work() -> None:
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as cat:
            assert cat.stdin
            for part in data:
                cat.stdin.write(part)

    return work
