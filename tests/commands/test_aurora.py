"""`lrb run --engine aurora` and `lrb aurora`, as a user types them."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from driver.cli import main
from driver.dataset.import_ import ImportOptions, import_dataset
from driver.lesson.road import write_road
from driver.run.loop import QUERIES
from polling_baseline.engines.aurora.inspect import forecast as analysis
from polling_baseline.scratch import scratch
from tests import traces
from tests.conftest import lrb_command, lrb_options
from tests.support.files_page import check_json
from tests.support.made_run import make_run

TRACE = traces.FOLDER / "balance_of_several_xways"


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("aurora") / "road"
    import_dataset(ImportOptions([TRACE / "input.csv"]), folder)
    return folder


@pytest.fixture(scope="module")
def run(road: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("aurora") / "run"
    options = ["--clock", "virtual", "--workers", "1", "--train-size", "3", "--shed", "random", "--out", str(folder)]
    assert main(["run", "--engine", "aurora", *options, str(road)]) == 0
    return folder


def test_a_run_has_the_right_answers_and_keeps_its_network(run: Path) -> None:
    with (run / "output.csv").open() as lines:
        answers = Counter(traces.without_emit(row) for row in csv.reader(lines))
    assert answers == Counter(traces.load("balance_of_several_xways").expected)
    check_json(run / "run.json")
    facts = json.loads((run / "run.json").read_text())
    assert facts["config"]["engine_options"] == {"shed": "random", "train_size": "3"}
    assert facts["environment"]["engine"]["shed_tuples"] == 0
    network = json.loads((run / "network.json").read_text())
    [reports] = [box for box in network["boxes"] if box["name"] == "reports"]
    assert reports["tuples_in"] == sum(line[0] == 0 for line in traces.load("balance_of_several_xways").lines)
    assert not list(scratch("test").parent.glob("history-*"))


def test_a_run_says_how_much_memory_it_took(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    peak = json.loads((run / "run.json").read_text())["environment"]["engine"]["peak_bytes"]
    assert 20e6 < peak < 20e9
    assert main(["report", str(run)]) == 0
    assert f"memory  {peak / 1e9:.2f} GB" in capsys.readouterr().out


def test_like_repeats_the_options(run: Path, tmp_path: Path) -> None:
    assert main(["run", "--like", str(run), "--shed", "none", "--out", str(tmp_path / "again")]) == 0
    facts = json.loads((tmp_path / "again" / "run.json").read_text())
    assert facts["config"]["engine_options"] == {"shed": "none", "train_size": "3"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--engine", "polling", "--shed", "random"], "--shed is an option of --engine aurora"),
        (["run", "--train-size", "5"], "--train-size is an option of --engine aurora"),
        (["run", "--engine", "aurora", "--train-size", "0"], "--train-size must be 1 or more, not 0"),
    ],
)
def test_options_that_cannot_be(road: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, str(road)]) == 1
    assert said in capsys.readouterr().err


def test_draw(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aurora", "draw"]) == 0
    plain = capsys.readouterr().out
    ElementTree.fromstring(plain)
    assert "tuples in" not in "".join(ElementTree.fromstring(plain).itertext()).split("Linear Road")[0]
    drawing = tmp_path / "run.svg"
    assert main(["aurora", "draw", str(run), "--out", str(drawing)]) == 0
    text = drawing.read_text()
    ElementTree.fromstring(text)
    assert text == (run / "network.svg").read_text() != plain


def test_draw_refuses_what_is_no_run_of_aurora(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aurora", "draw", str(tmp_path)]) == 1
    assert "is not a run" in capsys.readouterr().err
    polling = make_run(tmp_path / "polling")
    assert main(["aurora", "draw", str(polling)]) == 1
    assert "no run of engine aurora" in capsys.readouterr().err
    (polling / "network.json").write_text("{")
    assert main(["aurora", "check", "--xways", "1", str(polling)]) == 1
    assert "damaged" in capsys.readouterr().err


def test_check(road: Path, run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    # However slow the machine is, it holds half an expressway if it has all the time it needs.
    monkeypatch.setattr(analysis, "HEAVY", 500)
    monkeypatch.setattr(analysis, "HEADROOM", 1e6)
    assert main(["aurora", "check", "--xways", "0.5", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["holds"] is True
    assert facts["breaks_first"] in facts["limits"]
    assert 0 < facts["worker_s"]["2000"] <= facts["worker_s"]["2500"]
    # At the road's own rate.
    assert main(["aurora", "check", "--xways", "3", "--dataset", str(road), "--json"]) == 0
    reports = Counter(line[1] // 60 for line in traces.load(TRACE.name).lines if line[0] == 0)
    xways = json.loads((road / "dataset.json").read_text())["xways"]
    rate = round(max(reports.values()) / 60 / xways, 1)
    assert list(json.loads(capsys.readouterr().out)["worker_s"]) == [str(rate)]
    # Its last 20 minutes are all it has; without a road there is nothing to count.
    assert main(["aurora", "check", "--xways", "3", "--dataset", str(road), "--quick"]) == 0
    capsys.readouterr()
    assert main(["aurora", "check", "--xways", "3", "--quick"]) == 1
    assert "--dataset" in capsys.readouterr().err
    # So much history does not fit into any machine.
    monkeypatch.setattr(analysis, "HISTORY_BYTES", 10**30)
    assert main(["aurora", "check", "--xways", "2", str(run)]) == 3
    said = capsys.readouterr().out
    assert "DOES NOT HOLD" in said
    assert "first to give way: memory" in said
    assert main(["aurora", "check", "--xways", "0"]) == 1


def test_a_query_beside_a_run(tmp_path: Path) -> None:
    """As two terminals do it: what the connection point kept, then live; Ctrl-C detaches, and the run goes on."""
    road, run = tmp_path / "road", tmp_path / "run"
    road.mkdir()
    write_road(road, 1)
    options = lrb_options({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE})
    del options["capture_output"], options["timeout"]
    words = ["run", "--engine", "aurora", "--workers", "1", "--period", "0.5", "--out", run, road]
    with subprocess.Popen(lrb_command(*words), **options) as engine:
        deadline = time.monotonic() + 120
        while not (run / QUERIES).exists():
            assert engine.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        with subprocess.Popen(
            lrb_command("aurora", "query", run, "--where", "speed_mph >= 0", "--group", "dir", "--every", "1"),
            **options,
        ) as query:
            assert query.stdout.readline() == "second,dir,tuples\n"
            seconds = [int(query.stdout.readline().split(",")[0]) for _ in range(6)]
            assert seconds == sorted(seconds) and seconds[-1] > seconds[0]
            query.send_signal(signal.SIGINT)
            assert query.wait(60) == 0
        # The next batch takes its boxes out again.
        time.sleep(3)
        engine.send_signal(signal.SIGINT)
        assert engine.wait(60) == 2
    assert not (run / QUERIES).exists()
    boxes = {box["name"] for box in json.loads((run / "network.json").read_text())["boxes"]}
    assert not {name for name in boxes if name.startswith("ad hoc")}


def test_a_query_needs_a_run_under_way(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aurora", "query", str(run)]) == 1
    assert "no run of engine aurora that is under way" in capsys.readouterr().err
    assert main(["aurora", "query"]) == 1
    assert "name a run" in capsys.readouterr().err


def test_graphs_and_headroom_of_ones_own(road: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graphs = tmp_path / "graphs.json"
    graphs.write_text('{"toll": {"delay": [[0, 0.5], [1, 0.5]]}}')
    options = ["--clock", "virtual", "--workers", "1", "--qos", str(graphs), "--shed", "random", "--headroom", "0.5"]
    assert main(["run", "--engine", "aurora", *options, "--out", str(tmp_path / "run"), str(road)]) == 0
    said = capsys.readouterr().out
    assert "utility toll 0.500" in said and "shed    0 tuples, 0.0% of the input, random" in said
    assert "headroom 0.5" in said and "qos graphs.json" in said
    check_json(tmp_path / "run" / "run.json")
    both = [str(tmp_path / "run"), str(tmp_path / "run")]
    assert main(["report", *both, "--html", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert "tuples shed" in page and "utility of tolls" in page
    capsys.readouterr()
    for wrong, reason in ((["--headroom", "0"], "--headroom must be"), (["--qos", "none.json"], "cannot read")):
        assert main(["run", "--engine", "aurora", *wrong, "--out", str(tmp_path / "x"), str(road)]) == 1
        assert reason in capsys.readouterr().err
