"""`python -m tests.engines.stream_soak [KILLS [PERIOD [MINUTES]]]`: three simulated hours of the stream engine, L = 2.

Its batches have PERIOD seconds.  In the first third it is killed so many times, and goes on; in the others it is left
alone, and neither its memory nor its checkpoint may grow.  The judge has the last word.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

from driver.cli import main as lrb
from polling_baseline import spec
from polling_baseline.engines.structured_streaming.folder import RunFolder
from tests.conftest import ROOT, lrb_command, lrb_options
from tests.engines.crashing import facts

XWAYS, HISTORY_DAYS, DEFAULTS = 2, 7, (4, 5, 180)
# A sample so many times in each third; the last third against the second.
SAMPLES, MOST_GROWTH = 6, 1.2
# Nobody waits for these answers.
LATE_S = 600
LAST_CYCLES = 20


@dataclass(frozen=True, slots=True)
class Sample:
    second: int
    memory_mb: float
    checkpoint_mb: float
    cycle_ms: float


def main(kills: int, period_s: int, minutes: int) -> None:
    third_s = minutes * spec.MINUTE_S // 3
    with tempfile.TemporaryDirectory(prefix="lrb soak ") as name:
        road, run = Path(name) / "road", Path(name) / "run"
        words = ["--xways", XWAYS, "--minutes", minutes, "--history-days", HISTORY_DAYS, "--out", road]
        assert lrb(["generate", *map(str, words)]) == 0
        samples = _soak(
            road, run, [third_s * number // (kills + 1) for number in range(1, kills + 1)], period_s, third_s
        )
        assert lrb(["validate", str(road), str(run)]) == 0, "the judge found a fault"
        record = facts(run)
        assert (record["state"], len(record.get("outages", []))) == ("complete", kills)
    thirds = [[sample for sample in samples if sample.second // third_s == number] for number in (1, 2)]
    for what in ("memory_mb", "checkpoint_mb"):
        before, after = (max(getattr(sample, what) for sample in third) for third in thirds)
        print(f"{what}: at most {before:.0f} in the second third, {after:.0f} in the last")
        assert after <= MOST_GROWTH * before, what
    print(f"{minutes} minutes at L = {XWAYS}, {kills} kills: every answer is there, right and once")


def _soak(road: Path, run: Path, deaths: list[int], period_s: int, third_s: int) -> list[Sample]:
    """Run it to its end, with a kill in each of these seconds."""
    options = ["--engine", "structured_streaming", "--durability", "on", "--clock", "virtual", "--limits", LATE_S]
    options += ["--period", period_s, "--checkpoint", run.with_name("state"), "--out", run]
    command = lrb_command("run", road, *options)
    samples: list[Sample] = []
    for until in (*deaths, None):
        samples += _watched(command, run, until, third_s // SAMPLES)
        command = lrb_command("run", "--resume", run)
    return samples


def _watched(command: list[str], run: Path, until: int | None, every_s: int) -> list[Sample]:
    """Samples of a run, until it ends or, with `until`, is killed when it has come to that second."""
    settings = {**lrb_options({"cwd": ROOT}), "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    del settings["capture_output"], settings["timeout"]
    samples: list[Sample] = []
    due = _progress(run)[0] // every_s * every_s + every_s
    with subprocess.Popen(command, **settings) as process:
        while process.poll() is None:
            time.sleep(0.5)
            second, cycle_ms = _progress(run)
            if second >= due:
                due += every_s
                samples.append(Sample(second, _memory_mb(process.pid), _size_mb(run.with_name("state")), cycle_ms))
                print(samples[-1], flush=True)
            if until is not None and second >= until:
                process.kill()
                break
        _, said = process.communicate()
    assert process.returncode == (0 if until is None else -9), said
    return samples


def _progress(run: Path) -> tuple[int, float]:
    """The second after the last one on record, and the median milliseconds of the last cycles."""
    try:
        with (run / "cycles.csv").open() as lines:
            cycles = list(csv.DictReader(lines))[-LAST_CYCLES:]
    except FileNotFoundError:
        return 0, 0.0
    # The last line may be under way.
    whole = [cycle for cycle in cycles if cycle["stream_ms"]]
    if not whole:
        return 0, 0.0
    return int(whole[-1]["last_second"]) + 1, median(float(cycle["stream_ms"]) for cycle in whole)


def _memory_mb(pid: int) -> float:
    """Of a process and all that it has started."""
    total = 0
    process = psutil.Process(pid)
    for one in (process, *process.children(recursive=True)):
        with suppress(psutil.Error):
            total += one.memory_info().rss
    return total / 2**20


def _size_mb(folder: Path) -> float:
    return RunFolder(folder).size() / 2**20


if __name__ == "__main__":
    main(*map(int, [*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]))
