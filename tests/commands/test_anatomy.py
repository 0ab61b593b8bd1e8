"""`lrb compare --anatomy`: the same road up a ladder of systems."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from driver.cli import main
from driver.cli.anatomy import table_rows, text
from driver.dataset.folder import Dataset, open_dataset
from driver.rating.anatomy import RUNGS, Ladder, count_lines, dissect
from driver.rating.anatomy_page import write_anatomy_page
from driver.rating.record import ANATOMY, AnatomyRecord
from driver.run.config import FOREIGN, SLOW_TO_START
from driver.run.engines import ENGINES, Backends
from driver.run.record import read_run, write_run
from polling_baseline.refusal import Refusal
from polling_baseline.wording import WIDTH
from tests.conftest import shared_spark

MINUTES = 4
NAMES = ("stream", "sql", "server")


@pytest.fixture(scope="module")
def road(own_environment: None, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    shared_spark()
    folder = tmp_path_factory.mktemp("anatomy") / "road"
    words = ["generate", "--xways", "1", "--minutes", str(MINUTES), "--history-days", "0", "--out", str(folder)]
    assert main(words) == 0
    return open_dataset(folder)


@pytest.fixture(scope="module")
def ladder(server: object, road: Dataset) -> Ladder:
    """Rungs that need no restart of the server."""
    chosen = [rung for rung in RUNGS if rung.name in NAMES]
    assert len(chosen) == len(NAMES)
    return Ladder(road.path.parent / "out", road, Backends(), lambda what: None, (1.0, 3.0), 1, rungs=chosen)


@pytest.fixture(scope="module")
def record(ladder: Ladder) -> AnatomyRecord:
    return dissect(ladder)


def test_every_rung_is_measured_and_right(ladder: Ladder, record: AnatomyRecord) -> None:
    assert [rung["name"] for rung in record["rungs"]] == list(NAMES)
    for rung in record["rungs"]:
        few, many = rung["loads"]["1"], rung["loads"]["3"]
        assert few["right"] and many["right"]
        assert many["tuples"] > 2.5 * few["tuples"] > 0
        assert rung["fixed_ms"] >= 0 and rung["code_lines"] > 200
        for load in (few, many):
            assert [load["cycle_ms"]] == load["readings_ms"]
            assert load["tuple_us"] == pytest.approx(load["cycle_ms"] * 1000 / load["tuples"], rel=0.01, abs=0.01)
            for folder in load["runs"]:
                run = read_run(ladder.folder / folder)
                assert (run["config"]["workers"], run["config"]["catch_up"]) == (1, False)
                assert run["config"]["from_minute"] == MINUTES - 1
    assert json.loads((ladder.folder / ANATOMY).read_text()) == record


def test_it_goes_on_after_an_interruption(ladder: Ladder, record: AnatomyRecord) -> None:
    """Runs that are complete are taken over; one that is not is made again."""
    kept, broken = (ladder.folder / "runs" / name for name in ("stream-L1-1", "sql-L3-1"))
    before = (kept / "cycles.csv").read_bytes()
    write_run(broken, {**read_run(broken), "state": "interrupted"})
    said: list[str] = []
    again = dissect(replace(ladder, announce=said.append))
    assert (kept / "cycles.csv").read_bytes() == before
    assert sum("taken over" in line for line in said) == 2 * len(NAMES) - 1
    assert again["rungs"][0] == record["rungs"][0]
    assert read_run(broken)["state"] == "complete"


def test_a_folder_has_one_anatomy(ladder: Ladder, record: AnatomyRecord, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", str(ladder.dataset.path), "--anatomy", "--xways", "1,2", "--out", str(ladder.folder)]
    assert main(words) == 1
    assert "was made with another loads" in capsys.readouterr().err


def test_wrong_answers_are_worth_nothing(record: AnatomyRecord) -> None:
    shown = " ".join(text(record, Path("anatomy")))
    assert "WRONG" not in shown
    record["rungs"][1]["loads"]["3"]["right"] = False
    try:
        assert "sql gave WRONG answers" in " ".join(text(record, Path("anatomy")))
    finally:
        record["rungs"][1]["loads"]["3"]["right"] = True


def test_how_far_readings_lie_apart(record: AnatomyRecord) -> None:
    assert "apart" not in " ".join(text(record, Path("anatomy")))
    load = record["rungs"][2]["loads"]["3"]
    [only] = load["readings_ms"]
    load["readings_ms"] = [only, 1.5 * only, 1.2 * only]
    try:
        assert "lie up to 50% apart (server at L = 3)" in " ".join(text(record, Path("anatomy")))
    finally:
        load["readings_ms"] = [only]


def test_text_and_page(record: AnatomyRecord, tmp_path: Path) -> None:
    lines = text(record, Path("anatomy"))
    assert max(map(len, lines)) <= WIDTH
    rows = table_rows(record)
    assert all(any(line.split()[:1] == [name] for line in lines) for name in NAMES)
    write_anatomy_page(record, tmp_path, rows, ["A sentence."])
    page = (tmp_path / "anatomy.html").read_text()
    assert page.count("<figure") == 1 and "A sentence." in page
    assert page.count("<circle") == sum(len(rung["loads"]) for rung in record["rungs"])
    for cell in (cell for row in rows for cell in row if cell):
        assert cell in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--anatomy", "--xways", "1"], "two loads or more", id="one-load"),
        pytest.param(["--anatomy", "--xways", "1,x"], "x", id="no-number"),
        pytest.param(["--anatomy", "--readings", "0"], "--readings must be 1 or more", id="no-reading"),
        pytest.param(["--anatomy", "--workers", "2"], "chooses --workers itself", id="workers"),
        pytest.param(["--anatomy", "--engines", "aurora"], "chooses --engines itself", id="engines"),
        pytest.param(["--readings", "2"], "--readings is an option of --anatomy", id="readings-alone"),
    ],
)
def test_refusals(road: Dataset, capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    assert main(["compare", str(road.path), *words]) == 1
    assert said in capsys.readouterr().err


def test_it_makes_its_own_runs(ladder: Ladder, record: AnatomyRecord, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--anatomy", str(ladder.folder / "runs" / "stream-L1-1")]) == 1
    assert "name one data set" in capsys.readouterr().err


def test_a_rung_that_breaks(ladder: Ladder, tmp_path: Path) -> None:
    ends = [ladder.rungs[0], ladder.rungs[-1]]
    elsewhere = Backends(dsn="postgresql://localhost:1/none")
    gone = replace(ladder, folder=tmp_path / "out", backends=elsewhere, rungs=ends)
    with pytest.raises(Refusal, match="localhost"):
        dissect(gone)
    assert (tmp_path / "out" / "runs" / "stream-L1-1" / "run.json").exists()


def test_the_ladder_has_every_engine_and_its_code() -> None:
    assert {rung.engine for rung in RUNGS} == set(ENGINES) - {*FOREIGN, *SLOW_TO_START}
    for rung in RUNGS:
        assert all(count_lines([pattern]) for pattern in rung.code), rung.name


def test_lines_of_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driver.rating.anatomy.ROOT", tmp_path)
    (tmp_path / "a.py").write_text(
        '"""One line."""\n\n# why\nx = 1\n\n\ndef f():\n    """Two\n\n    lines."""\n    return x\n'
    )
    (tmp_path / "a.sql").write_text("-- why\nSELECT 1;\n\n")
    assert (count_lines(["*.py"]), count_lines(["*.sql"]), count_lines(["*.py", "*.sql", "a.*"])) == (3, 1, 4)
    shutil.rmtree(tmp_path)
