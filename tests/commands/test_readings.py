"""`lrb validate --reading` and `--layout`: outputs of other kits, by their rules and by the paper's."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from driver.cli import main, readings
from driver.dataset.folder import open_dataset
from driver.dataset.import_ import ImportOptions, import_dataset
from driver.validate.kits import walmart2015
from driver.validate.kits.beginning import Beginning
from driver.validate.kits.layouts import Answer, Output
from driver.validate.kits.road import read_road
from tests import traces
from tests.support.files_page import check_json
from tests.support.samples import SAMPLE, SAMPLES, needs_sample

Capsys = pytest.CaptureFixture[str]
LAV = "walmart2015: LAV is the mean of all speed readings, rounded half up, and 0 without any"


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few minutes with tolls, alerts and balances."""
    folder = tmp_path_factory.mktemp("readings") / "road"
    import_dataset(ImportOptions([traces.FOLDER / "alert_and_toll" / "input.csv"]), folder)
    return folder


@pytest.fixture(scope="module")
def theirs(road: Path) -> Path:
    """What walmart2015 accepts, in its own layout."""
    dataset = open_dataset(road)
    accepted = walmart2015.accepted_answers(read_road(dataset, range(dataset.seconds)))
    lines = [f"0,{car},{second},{second}.5,{lav},{toll}" for (second, car), (lav, toll) in accepted.tolls.items()]
    lines += [f"1,{second},{second}.5,0,{min(seg)},0,{car}" for (second, car), seg in accepted.alerts.items()]
    for (second, query), balance in accepted.balances.items():
        lines.append(f"2,{second},{second}.5,{second},{query},{max(balance.sums)}")
        lines.append(
            f"5,{second},{second}.5,{balance.between[0] if balance.between else 0},{query},{min(balance.sums)}"
        )
    (road.parent / "their.out").write_text("\n".join(lines) + "\n")
    return road.parent / "their.out"


def test_by_its_own_rules(spark: Any, road: Path, theirs: Path, capsys: Capsys) -> None:
    assert main(["validate", str(road), "--reading", "walmart2015", "--output", str(theirs)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("PASS by walmart2015") and "accepted by the reading walmart2015\n" in told
    verdict = theirs.with_name("their.out.verdict.json")
    check_json(verdict, "verdict.json")
    said = json.loads(verdict.read_text())
    assert (said["verdict"], said["reading"], said["accepted_by"]) == ("PASS", "walmart2015", ["walmart2015"])


def test_by_the_paper(spark: Any, road: Path, theirs: Path, capsys: Capsys) -> None:
    """Differences by kind and reason."""
    assert main(["validate", str(road), "--layout", "walmart2015", "--output", str(theirs)]) == 3
    told = capsys.readouterr().out
    assert told.startswith("FAIL") and "accepted by the reading walmart2015\n" in told
    rows = [line for line in told.splitlines() if line.endswith(LAV)]
    assert len(rows) == 1 and rows[0].split()[:2] == ["toll", "wrong"]
    assert "no reading accepts that" not in told and "   perl2004: " not in told


def test_a_file_in_another_layout(spark: Any, road: Path, theirs: Path, tmp_path: Path, capsys: Capsys) -> None:
    """Said or not, the user is told which one it looks like."""
    words = ["validate", str(road), "--output", str(theirs), "--verdict", str(tmp_path / "v.json")]
    assert main([*words, "--layout", "perl2004"]) == 1
    assert "it looks like walmart2015; give --layout walmart2015" in capsys.readouterr().err
    assert main(words) == 3
    assert "it looks like walmart2015; give --layout walmart2015" in capsys.readouterr().out


def test_right_answers_by_the_paper(spark: Any, road: Path, tmp_path: Path, capsys: Capsys) -> None:
    assert main(["expected", str(road), "--out", str(tmp_path / "right.csv")]) == 0
    capsys.readouterr()
    assert main(["validate", str(road), "--output", str(tmp_path / "right.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accepted_by"] == ["paper"]


def test_a_run_by_other_rules(spark: Any, road: Path, tmp_path: Path, capsys: Capsys, monkeypatch: Any) -> None:
    """The run keeps its own verdict, whoever judged; of a large one, the first minutes tell who does not accept it."""
    run = tmp_path / "run"
    assert main(["run", str(road), "--engine", "sqlite", "--clock", "virtual", "--judge", "--out", str(run)]) == 0
    beside = (run / "verdict.json").read_bytes()
    monkeypatch.setattr(readings, "MOST_REPORTS", 0)
    assert main(["validate", str(road), str(run)]) == 0
    assert "\naccepted by the reading paper\n" in capsys.readouterr().out
    assert (run / "verdict.json").read_bytes() == beside
    assert main(["validate", str(road), str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accepted_by"] == ["paper"]
    assert main(["validate", str(road), str(run), "--reading", "walmart2015"]) == 3
    assert json.loads((run / "verdict.json").read_text())["verdict"] == "PASS"
    assert json.loads((run / "walmart2015.verdict.json").read_text())["verdict"] == "FAIL"


@pytest.mark.parametrize(
    ("verdict", "open_readings", "lines"),
    [
        ("PASS", (), ["", "accepted by the reading paper"]),
        ("FAIL", (), ["", "no reading accepts it"]),
        ("FAIL", ("perl2004",), ["", "perl2004 accepts its first 4 minutes; --reading perl2004 judges all of it"]),
    ],
)
def test_what_the_first_minutes_tell(verdict: str, open_readings: tuple[str, ...], lines: list[str]) -> None:
    others = readings.OtherReadings(beginning=Beginning(4, open_readings))
    paper: Any = {"verdict": verdict}
    assert readings.closing_lines(others, paper) == lines
    assert others.is_known is not bool(open_readings)


def test_a_kind_of_answer_that_a_reading_does_not_know() -> None:
    args, travel = Namespace(reading="walmart2015"), Answer(4, 9, 79, (60, 2), 9.5)
    others = readings.OtherReadings(Output([travel, Answer(0, 1, 2, (0, 0), 1.5), travel], 3))
    told = ["walmart2015 does not know travel times: 2 answers not looked at"]
    assert readings.unseen_lines(args, others) == told
    assert readings.unseen_lines(args, readings.OtherReadings(Output())) == []


@pytest.mark.parametrize("option", [["--lenient"], ["--explain", "1"], ["--limits", "3"], ["--xways", "0"]])
def test_options_of_the_paper(road: Path, theirs: Path, capsys: Capsys, option: list[str]) -> None:
    assert main(["validate", str(road), "--reading", "perl2004", "--output", str(theirs), *option]) == 1
    assert "goes with the paper's reading" in capsys.readouterr().err


@needs_sample
def test_the_paper_on_the_answers_of_other_kits(spark: Any, tmp_path: Path, capsys: Capsys) -> None:
    road = tmp_path / "road"
    import_dataset(ImportOptions([SAMPLE]), road)
    words = ["validate", str(road), "--verdict", str(tmp_path / "v.json")]
    assert main([*words, "--layout", "walmart2015", "--output", str(SAMPLES / "walmart2015.out.gz")]) == 3
    told = capsys.readouterr().out
    assert "accepted by the reading walmart2015\n" in told and "no reading accepts that" not in told
    assert [line.split()[:3] for line in told.splitlines() if line.endswith(LAV)] == [["toll", "wrong", "12,154"]]
    files = [SAMPLES / f"perl2004.type{name}" for name in ("0.csv.gz", "1.csv", "2.csv")]
    outputs = [word for file in files for word in ("--output", str(file))]
    assert main([*words, "--layout", "perl2004", *outputs]) == 3
    told = capsys.readouterr().out
    assert "accepted by the reading perl2004\n" in told and "no reading accepts that" not in told
