"""A rating around runs that cost nothing: what is tried, judged, taken over and refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from driver.cli.rate import text
from driver.dataset.folder import Dataset
from driver.dataset.relabel import dataset_label
from driver.rating import rating as rate
from driver.rating.candidate import gave_out
from driver.rating.rating import Rating, rating_record
from driver.rating.search import Search
from driver.run.config import RunConfig
from driver.run.engines import Backends
from driver.run.record import write_run
from driver.run.summary import environment
from polling_baseline import spec
from polling_baseline.refusal import Refusal
from tests.support.made_run import verdict

CONFIG = RunConfig("road", "polling", "virtual", 1.0, 2, "off", 1, 3, stop_when_late=True)


class Bench:
    """Stands for an engine and for the judge: in time up to `limit`, right up to `right`."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, limit: float, right: float = 1000, peak: float | None = None
    ) -> None:
        self.limit, self.right, self.peak = limit, right, limit if peak is None else peak
        self.tried: list[float] = []
        self.whole: list[float] = []
        # The numbers of whole runs that are late for no reason.
        self.unlucky: list[int] = []
        self.judged: list[float] = []
        self.states: dict[int, str] = {}
        monkeypatch.setattr(rate, "measure", self.measure)

    def measure(self, config: RunConfig, dataset: Dataset, backends: Backends, folder: Path) -> dict[str, Any]:
        self.tried.append(dataset.xways)
        if whole := config.from_minute == 1:
            self.whole.append(dataset.xways)
        in_time = dataset.xways <= (self.limit if whole else self.peak) and not (
            whole and len(self.whole) in self.unlucky
        )
        state = self.states.get(len(self.tried), "complete" if in_time else "late")
        answer = {"received": 9, "late": int(not in_time), "limit_s": 5, "max": dataset.xways / 10}
        nothing = {"received": 0, "late": 0, "limit_s": 5}
        record = {
            "state": state,
            "config": config.as_json(),
            "dataset": dataset_label(dataset),
            "answers": {kind: answer if kind == "toll" else nothing for kind in spec.ANSWERS},
            "feed": {"rows": 1000, "busy_s": 0.5, "peak_rows_per_s": 30},
            "environment": environment({}),
            "reason": "a worker is gone",
        }
        folder.mkdir(parents=True)
        write_run(folder, record)
        return record

    def judge(self, folder: Path) -> None:
        record = json.loads((folder / "run.json").read_text())
        xways = record["dataset"]["xways"]
        self.judged.append(xways)
        faults = {"late": 1, "missing": int(xways > self.right)}
        (folder / "verdict.json").write_text(json.dumps(verdict(record, toll=faults)))


def rating(folder: Path, most: float = 64, peak_first: bool = False, **options: Any) -> Rating:
    dataset = Dataset(folder / "road", 1.0, 180, 42, {}, {"command": "generate"})

    def config_for(xways: float, first: int = 1) -> RunConfig:
        return replace(CONFIG, xways=xways, from_minute=first, **options)

    peak_for = (lambda xways: config_for(xways, 2)) if peak_first else None
    return Rating(folder, dataset, Search(1, 1, most), config_for, Backends(), peak_for)


def test_winner_and_loser_are_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, said = Bench(monkeypatch, limit=5), list[str]()
    found = rating(tmp_path)
    found.run(bench.judge, said.append)
    assert bench.tried == [1, 2, 4, 8, 6, 5, 6]
    assert bench.judged == [5, 6]
    assert found.winner and found.loser
    assert (found.winner.xways, found.loser.xways, found.loser.run.name) == (5, 6, "0007-polling-L6")
    assert (found.winner.right, found.loser.right, found.loser.outcome) == (True, True, "late")
    assert " ".join(said[0].split()) == "L = 1 in time longest 0.100 s 2,000 tuples/s of work took 0 s"


def test_the_edge_several_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look begins where the search has ended; the median counts, and its winner is judged."""
    bench = Bench(monkeypatch, limit=5)
    found = rating(tmp_path, peak_first=True)
    found.run(bench.judge, lambda what: None)
    before = len(bench.tried)
    # Slower from now on, and an earlier rating goes on.
    bench.limit = bench.peak = 4
    again = rating(tmp_path, peak_first=True)
    again.run(bench.judge, lambda what: None, repeat=3)
    assert bench.tried[before:] == [5, 4, 5] * 2 and bench.judged[-2:] == [4, 4]
    assert again.ratings == [5, 4, 4]
    record = rating_record(again, "full")
    assert (record["rating"], record["ratings"]) == (4, [5, 4, 4])
    assert record["winner"] and record["winner"].endswith("-polling-L4-repetition-2")
    assert [candidate["repetition"] for candidate in record["candidates"]].count(3) == 3
    # Nothing is left to do.
    last = rating(tmp_path, peak_first=True)
    last.run(bench.judge, lambda what: None, repeat=3)
    assert (len(bench.tried), last.ratings) == (before + 6, [5, 4, 4])


def test_a_rating_begun_before_there_were_designs_goes_on(tmp_path: Path) -> None:
    rating(tmp_path)
    rating(tmp_path, engine_options={"design": "ring"})
    with pytest.raises(Refusal, match="engine_options"):
        rating(tmp_path, engine_options={"design": "merge"})


def test_only_what_comes_through_the_peak_is_run_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, limit=5)
    found = rating(tmp_path, peak_first=True)
    found.run(bench.judge, lambda what: None)
    assert (bench.tried, bench.whole, bench.judged) == ([1, 2, 4, 8, 6, 5, 6, 5], [5], [5, 6])
    assert found.winner and found.loser
    assert (found.winner.minutes, found.winner.right) == ((1, 3), True)
    assert (found.loser.xways, found.loser.minutes) == (6, (2, 3))
    # And after an interruption: there is nothing left to do.
    again = rating(tmp_path, peak_first=True)
    again.run(bench.judge, lambda what: None)
    assert (len(bench.tried), again.winner) == (8, found.winner)


def test_a_whole_run_that_was_late_by_chance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, limit=5)
    bench.unlucky = [1]
    found = rating(tmp_path, peak_first=True)
    found.run(bench.judge, lambda what: None)
    assert (bench.whole, found.winner and found.winner.xways) == ([5, 5], 5)


@pytest.mark.parametrize("limit", [*range(8), 31, 32, 33, 61])
def test_a_peak_that_says_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    bench = Bench(monkeypatch, limit=limit, peak=62)
    found = rating(tmp_path, peak_first=True)
    found.run(bench.judge, lambda what: None)
    assert (found.winner.xways if found.winner else 0) == limit
    assert found.loser and (found.loser.xways, found.is_whole(found.loser)) == (limit + 1, True)
    # 62 and the last failure twice, and a bisection.
    assert len(bench.whole) <= 10


def test_a_wrong_winner_is_no_winner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, limit=50, right=9)
    found = rating(tmp_path)
    found.run(bench.judge, lambda what: None)
    assert found.winner and found.loser
    assert (found.winner.xways, found.loser.xways, found.loser.outcome) == (9, 10, "wrong")
    # After the first wrong one, those that passed are judged from the top, and none is tried again for being wrong.
    assert bench.judged[:4] == [50, 48, 32, 16]
    assert bench.tried.count(10) == 1
    assert len(bench.tried) < 20


def test_an_engine_that_is_always_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, limit=50, right=0)
    found = rating(tmp_path)
    found.run(bench.judge, lambda what: None)
    assert found.winner is None
    assert found.loser and found.loser.xways == 1


def test_an_interrupted_search_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, said = Bench(monkeypatch, limit=5), list[str]()
    bench.states = {4: "interrupted"}
    with pytest.raises(KeyboardInterrupt):
        rating(tmp_path).run(bench.judge, said.append)
    assert said[-1] == "L = 8 was interrupted; the same command goes on from here"
    found = rating(tmp_path)
    found.run(bench.judge, said.append)
    assert sum("taken over" in line for line in said) == 3
    assert bench.tried == [1, 2, 4, 8, 8, 6, 5, 6]
    assert found.winner and found.winner.xways == 5
    # And once more: there is nothing left to do.
    again = rating(tmp_path)
    again.run(bench.judge, said.append)
    assert (len(bench.tried), bench.judged) == (8, [5, 6])
    assert again.winner == found.winner


def test_a_run_that_broke_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, limit=5)
    bench.states = {1: "broken", 2: "broken"}
    found = rating(tmp_path)
    found.run(bench.judge, lambda what: None)
    assert (found.winner, found.loser and found.loser.outcome, bench.judged) == (None, "broken", [])
    assert "L = 1 broke: a worker is gone." in text(rating_record(found, "full"), tmp_path)


def test_a_folder_has_one_rating(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Bench(monkeypatch, limit=5)
    rating(tmp_path)
    with pytest.raises(Refusal, match="with another clock, period_s; choose another --out"):
        rating(tmp_path, clock="real", period_s=2.0)
    (tmp_path / "rating.json").write_text("{")
    with pytest.raises(Refusal, match="is damaged"):
        rating(tmp_path)


def test_what_gave_out(tmp_path: Path) -> None:
    lines = ["first_second,last_second,rows,due,started,committed,ended,backlog_s,copy_ms,advance_ms"]
    lines += [f"{second},{second},9,{second},{second},{second}.1,{second}.1,0,90,10" for second in range(60)]
    lines += [f"{second},{second},9,{second},{second},{second}.9,{second}.9,0,10,90" for second in range(60, 170)]
    (tmp_path / "cycles.csv").write_text("\n".join(lines) + "\n")
    label = {"name": "road", "identity": "", "xways": 1.0, "seed": 42}
    ran = {"config": CONFIG.as_json(), "dataset": label, "environment": environment({})}
    write_run(tmp_path, {**ran, "state": "complete"})
    assert gave_out(tmp_path) is None
    lines.append("170,180,99,170,181,186,187,11,2000,3000")
    (tmp_path / "cycles.csv").write_text("\n".join(lines) + "\n")
    assert gave_out(tmp_path) == {"second": 170, "minute": 3, "step": "advance", "share": pytest.approx(0.74, abs=0.05)}
    write_run(tmp_path, {**ran, "state": "broken", "reason": "a worker is gone"})
    assert gave_out(tmp_path) == {"reason": "a worker is gone"}
