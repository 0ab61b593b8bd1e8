"""Runs that differ from the usual ones: without catching up, without some requests, on a slower machine."""

from __future__ import annotations

import csv
import json
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from driver.cli import main
from driver.dataset.folder import Dataset
from driver.run.config import configure
from driver.run.journal import read_cycles
from driver.run.loop import run as run_engine
from polling_baseline.batch import Answers, Batch
from polling_baseline.database.embedded.server import Server
from polling_baseline.engines.aurora.linear_road.history import EMPTY
from polling_baseline.engines.aurora.node import Node, Options
from polling_baseline.engines.system_x.exchange import warm_up_share
from tests import traces
from tests.support.one_dataset import Road, one_dataset

NAMES = ("daily_expenditure", "travel_east", "balance_of_several_xways", "alert_and_toll")
WORK_S, MINUTES = 0.002, 3


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Traces with every kind of answer."""
    loaded = [traces.load(name) for name in NAMES]
    roads = [Road(each.lines, each.toll_history, each.segment_history) for each in loaded]
    return one_dataset(roads, tmp_path_factory.mktemp("schedule") / "road")[0]


class Sleeper:
    """Takes a while for each batch, and gives one answer to each of its seconds."""

    name, workers = "sleeper", 1

    def __init__(self) -> None:
        self.took_s: list[float] = []
        self._seconds = range(0)

    def install(self) -> None: ...

    def process(self, batch: Batch) -> Mapping[str, float]:
        started = time.perf_counter()
        time.sleep(WORK_S)
        self._seconds = batch.seconds
        self.took_s.append(time.perf_counter() - started)
        return {"sleep_ms": 1000 * self.took_s[-1]}

    def answers(self) -> Iterator[Answers]:
        number = np.arange(len(self._seconds))
        columns = {"vehicle_id": number, "second": np.array(self._seconds), "lav": number, "toll": number}
        yield Answers("toll", columns)

    def stop(self) -> None: ...

    def facts(self) -> dict[str, object]:
        return {}


@pytest.mark.parametrize("slower", [1, 50, 1000])
@pytest.mark.parametrize("catch_up", [True, False])
def test_an_engine_that_takes_so_many_times_as_long(
    dataset: Dataset, tmp_path: Path, slower: int, catch_up: bool
) -> None:
    options = {"clock": "virtual", "workers": 1, "to_minute": MINUTES}
    config = configure(dataset=str(dataset.path), slower=slower, catch_up=catch_up, **options)
    engine = Sleeper()
    record = run_engine(engine, dataset, config, tmp_path)
    cycles = read_cycles(tmp_path)
    assert record["state"] == "complete"
    assert [cycle.steps["sleep_ms"] for cycle in cycles] == pytest.approx(
        [1000 * slower * took_s for took_s in engine.took_s], rel=1e-3, abs=0.01
    )
    # Whoever interrupts this process interrupts the engine.
    ratios = np.array([cycle.committed - cycle.started for cycle in cycles]) / engine.took_s
    assert ratios.min() >= 0.9 * slower and np.median(ratios) == pytest.approx(slower, rel=0.1)
    free, last = 0.0, 60 * MINUTES - 1
    for cycle in cycles:
        # It begins when its first second has come, or when the cycle before has ended.
        assert cycle.started == pytest.approx(max(free, cycle.seconds[0]), abs=0.1)
        assert cycle.backlog_s == max(0, min(math.floor(cycle.ended), last) - cycle.seconds[-1])
        free = cycle.ended
    longest = max(len(cycle.seconds) for cycle in cycles)
    # What takes two seconds for each falls behind by one in each.
    assert longest == 1 if not catch_up else slower < 1000 or longest > 1
    if slower == 1000 and not catch_up:
        assert cycles[-1].lag == pytest.approx(
            sum(cycle.ended - cycle.started for cycle in cycles[:-1]) - last, rel=0.01
        )
        assert record["answers"]["toll"]["max"] > 100


@pytest.mark.parametrize("slower", [1.0, 40.0])
def test_aurora_is_as_busy_as_the_clock_says(slower: float) -> None:
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 0.01
        return now

    node = Node(EMPTY, True, Options(slower=slower), clock)
    usual = Node(EMPTY, True, Options(), clock)
    for each in (node, usual):
        each.feed(range(0, 2), warm_up_share())
        each.finish()
    assert node.shedder.load == pytest.approx(slower * usual.shedder.load, rel=0.01)


@pytest.fixture(scope="module")
def runs(dataset: Dataset, server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The road as it is, and by the paper's schedule without two kinds of request, on both sorts of engine."""
    folder = tmp_path_factory.mktemp("runs")
    paper = ["--catch-up", "off", "--ignore", "travel_time,balance", "--slower", "3"]
    words = ["run", str(dataset.path), "--clock", "virtual"]
    assert main([*words, "--out", str(folder / "polling")]) == 0
    for engine in ("polling", "aurora"):
        assert main([*words, *paper, "--engine", engine, "--out", str(folder / f"{engine}-paper")]) == 0
    assert main(["run", "--like", str(folder / "polling-paper"), "--out", str(folder / "again")]) == 0
    return folder


def kinds(run: Path) -> Counter[str]:
    with (run / "output.csv").open() as lines:
        return Counter(row[0] for row in csv.reader(lines))


def test_what_is_ignored_is_not_answered(runs: Path) -> None:
    everything = kinds(runs / "polling")
    assert set(everything) == {"0", "1", "2", "3", "4"}
    fewer = Counter({kind: count for kind, count in everything.items() if kind not in "24"})
    for name in ("polling-paper", "aurora-paper", "again"):
        assert kinds(runs / name) == fewer
        config = json.loads((runs / name / "run.json").read_text())["config"]
        assert (config["catch_up"], config["ignore"], config["slower"]) == (False, ["balance", "travel_time"], 3)
        assert all(len(cycle.seconds) == 1 for cycle in read_cycles(runs / name))


def test_what_is_ignored_is_not_expected(
    runs: Path, dataset: Dataset, spark: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    road = str(dataset.path)
    both = [runs / "polling-paper", runs / "aurora-paper"]
    assert main(["compare", *map(str, both), "--out", str(tmp_path)]) == 0, capsys.readouterr()
    for run in both:
        assert json.loads((run / "verdict.json").read_text())["answers"]["travel_time"]["expected"] == 0
    assert main(["validate", road, str(runs / "polling"), "--ignore", "balance"]) == 1
    right = tmp_path / "right.csv"
    assert main(["expected", road, "--out", str(right), "--ignore", "balance,travel_time"]) == 0
    assert Counter(line[0] for line in right.read_text().splitlines()) == kinds(runs / "polling-paper")


def test_reports_say_so(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(runs / "polling-paper")]) == 0
    words = ("catch-up off", "balance, travel time ignored", "3 times slower")
    assert " ".join(words) in " ".join(capsys.readouterr().out.split())
    assert " · ".join(words) in (runs / "polling-paper" / "report.html").read_text()
    both = [str(runs / "polling"), str(runs / "polling-paper")]
    assert main(["compare", *both, "--out", str(tmp_path)]) == 1
    assert "different kinds of request" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--ignore", "toll"], "a kind of request is balance, expenditure, travel_time; or none of them"),
        (["--ignore", "travel"], "a kind of request is balance"),
        (["--ignore", ""], "a kind of request is"),
        (["--slower", "0.5"], "--slower must be a number from 1 on, not 0.5"),
        (["--slower", "nan"], "--slower must be a number from 1 on, not nan"),
        (["--slower", "inf"], "--slower must be a number from 1 on, not inf"),
        (["--slower", "2", "--clock", "real"], "--slower needs --clock virtual"),
        (["--order", "box"], "--order is an option of --engine aurora"),
    ],
)
def test_refusals(dataset: Dataset, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(dataset.path), "--clock", "virtual", *words]) == 1
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--catch-up", "off"], ["--ignore", "balance"], ["--slower", "2"]])
def test_a_resumed_run_stays_as_it_was(runs: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--resume", str(runs / "polling"), *words]) == 1
    assert "--resume takes all options" in capsys.readouterr().err
