"""The judge beside a run against the judge of the finished file, for 1 to 5 expressways and three hours.

Three hours in real time would take three hours.  So a finished run is given to the judge beside it cycle by cycle, as
fast as it takes them; and the last minute of the largest L is run on the real clock, with the judge beside.
`python -m tests.bench.live FILE.svg` draws it as well.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from driver.dataset.folder import open_dataset
from driver.report.html.axis import Axis
from driver.report.html.chart import Curve, curves
from driver.report.html.figures import write_figures
from driver.run.journal import NAME as JOURNAL
from driver.run.judge_status import read_status
from driver.run.limits import limits_in_force
from driver.run.record import config_of, read_run, seconds_of, write_run
from driver.run.verdict import NAME as VERDICT
from driver.run.verdict import read_verdict
from driver.validate.judge import Question
from driver.validate.live.follow import Follower
from polling_baseline import spec
from tests.bench.cost import PROC, Cost, lrb

LOADS, HISTORY_DAYS = (1, 2, 3, 4, 5), 10
REAL_MINUTE = 180
HEAD = (
    *("L", "of the file: CPU", "verdict after the end", "beside the run: CPU", "of a core", "verdict after the end"),
    *("longest work at a time", "MiB after each hour"),
)
# By expressways: what the text says of figure 3.3 of the thesis.
THESIS_S = {1: 2.75 * 3600, 5: 13.0 * 3600}


@dataclass(frozen=True, slots=True)
class Replay:
    """What the judge beside a run of three hours took, its start included."""

    cpu_s: float
    # From the last cycle to the verdict, and what the slowest cycle before kept it busy.
    lag_s: float
    slowest_s: float
    # After the first, the second and the third hour.
    memory_mib: tuple[float, ...]


def main(chart: str = "") -> None:
    files: dict[int, Cost] = {}
    replays: dict[int, Replay] = {}
    print(_line(*HEAD), "|" + "---|" * len(HEAD), sep="\n", flush=True)
    with tempfile.TemporaryDirectory() as name:
        road = Path(name) / "road"
        lrb("generate", "--xways", max(LOADS), "--history-days", HISTORY_DAYS, "--out", road)
        for xways in LOADS:
            run = Path(name) / f"L{xways}"
            lrb(*("run", "--engine", "aurora", "--clock", "virtual", "--xways", xways), "--out", run, road)
            files[xways] = lrb("validate", road, run)
            replays[xways] = _replayed(road, run)
            print(_row(xways, files[xways], replays[xways]), flush=True)
            (run / "output.csv").unlink()
        print(_on_the_real_clock(road, Path(name) / "real"), flush=True)
    if chart:
        _draw(files, replays, Path(chart))


def _row(xways: int, file: Cost, beside: Replay) -> str:
    """Of the table in docs/validation.md."""
    share = f"{100 * beside.cpu_s / spec.RUN_SECONDS:.2f} %"
    seconds = f"{beside.lag_s:.2f} s", f"{beside.slowest_s:.2f} s"
    memory = ", ".join(f"{mib:.0f}" for mib in beside.memory_mib)
    of_file = f"{file.cpu_s:.1f} s", f"{file.wall_s:.1f} s"
    return _line(str(xways), *of_file, f"{beside.cpu_s:.1f} s", share, *seconds, memory)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _replayed(road: Path, run: Path) -> Replay:
    """In a process of its own, whose CPU and memory are the judge's."""
    command = [sys.executable, "-m", "tests.bench.live", "replay", str(road), str(run)]
    done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return Replay(**{**done, "memory_mib": tuple(done["memory_mib"])})


def replay(road: Path, run: Path) -> Replay:
    record = read_run(run)
    seconds, config = seconds_of(record), config_of(record)
    header, *lines = (run / JOURNAL).read_bytes().splitlines(keepends=True)
    took, memory = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "output.csv").symlink_to(run.absolute() / "output.csv")
        write_run(folder, {**record, "state": "running"})
        output, limits = folder / "output.csv", limits_in_force(config.limits)
        question = Question(config.part_of(open_dataset(road)), output, seconds, limits=limits)
        follower = Follower(folder, question, lambda minute: None)
        with (folder / JOURNAL).open("wb") as journal:
            journal.write(header)
            for number, line in enumerate(lines, 1):
                journal.write(line)
                journal.flush()
                started = time.perf_counter()
                follower.read()
                took.append(time.perf_counter() - started)
                if number * 3 % len(lines) < 3:
                    memory.append(_memory_mib())
            started = time.perf_counter()
            verdict = follower.end(seconds)
            lag_s = took.pop() + time.perf_counter() - started
        follower.close(done=True)
        if verdict != read_verdict(run):
            sys.exit("the two judges do not agree")
    return Replay(time.process_time(), lag_s, max(took), tuple(memory))


def _memory_mib() -> float:
    match = re.search(r"VmRSS:\s+(\d+)", (PROC / "self" / "status").read_text())
    return int(match[1]) / 1024 if match else 0.0


def _on_the_real_clock(road: Path, run: Path) -> str:
    minutes = ("--from-minute", REAL_MINUTE, "--to-minute", REAL_MINUTE)
    lrb("run", "--engine", "aurora", "--clock", "real", "--judge", *minutes, "--out", run, road)
    lag_s = (run / VERDICT).stat().st_mtime - (run / "output.csv").stat().st_mtime
    status = read_status(run)
    cpu_s = status["cpu_s"] if status else 0.0
    return (
        f"minute {REAL_MINUTE} of L = {max(LOADS)} on the real clock: verdict {lag_s:.2f} s after the last answer, "
        f"{cpu_s:.1f} s of CPU, start included"
    )


def _draw(files: dict[int, Cost], replays: dict[int, Replay], chart: Path) -> None:
    def curve(name: str, values: Sequence[float], look: str = "") -> Curve:
        return Curve(name, LOADS, values, look=look)

    lines = [
        Curve("the thesis: ends of figure 3.3", list(THESIS_S), list(THESIS_S.values()), look="dashed"),
        curve("of the file: run's end to verdict", [files[xways].wall_s for xways in LOADS]),
        curve("of the file: CPU", [files[xways].cpu_s for xways in LOADS], "dotted"),
        curve("beside the run: run's end to verdict", [replays[xways].lag_s for xways in LOADS]),
        curve("beside the run: CPU in three hours", [replays[xways].cpu_s for xways in LOADS], "dotted"),
    ]
    x = Axis("expressways (L)", 1, max(LOADS), marks=tuple((xways, str(xways)) for xways in LOADS))
    y = Axis("seconds (log scale)", 0.01, 100_000, log=True)
    said = ". ".join(f"{line.name}: " + ", ".join(f"{value:.3g}" for value in line.y) for line in lines)
    with tempfile.TemporaryDirectory() as name:
        [path] = write_figures(str(curves("Three hours judged", said + ".", x, y, lines)), Path(name))
        chart.write_bytes(path.read_bytes())


if __name__ == "__main__":
    if sys.argv[1:2] == ["replay"]:
        print(json.dumps(asdict(replay(*map(Path, sys.argv[2:])))))
    else:
        main(*sys.argv[1:])
