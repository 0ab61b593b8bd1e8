"""`lrb verify --dataset`: the verdict again, by the digest of the answers and by the answers themselves."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from driver.cli import main
from driver.run.record import read_run, write_run
from tests.support.made_results import bundle_of
from tests.support.made_run import verdict
from tests.support.one_dataset import Road, one_dataset
from tests.support.random_road import random_history, random_lines

Capsys = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify") / "road"
    one_dataset([Road(random_lines(5, minutes=3, xways=1), *random_history(5, xways=1))], folder, "generate")
    return folder


@pytest.fixture(scope="module")
def run(road: Path, own_environment: None) -> Path:
    """A real run of two expressways, judged."""
    from tests.conftest import shared_spark

    shared_spark()
    run = road.parent / "run"
    words = ["--engine", "sqlite", "--clock", "virtual", "--xways", "2", "--ignore", "travel_time", "--out", str(run)]
    assert main(["run", str(road), *words]) == 0
    assert main(["validate", str(road), str(run)]) == 0
    return run


def spoiled(run: Path, folder: Path) -> Path:
    """The same run with a wrong toll, and a verdict that somebody has written who did not look."""
    shutil.copytree(run, folder)
    lines = (folder / "output.csv").read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("0,"))
    lines[at] += "7"
    (folder / "output.csv").write_text("\n".join(lines) + "\n")
    return folder


def test_by_the_digest(run: Path, road: Path, tmp_path: Path, capsys: Capsys) -> None:
    bundle = bundle_of(run, tmp_path / "run.zip")
    capsys.readouterr()
    assert main(["verify", str(bundle), "--dataset", str(road), "--json"]) == 0
    (again,) = json.loads(capsys.readouterr().out)["judged_again"]
    assert again == {"run": "run", "result": "all answers are right, by their digest", "fits": True}
    bad = bundle_of(spoiled(run, tmp_path / "spoiled"), tmp_path / "bad.zip")
    # It agrees with itself; only the data set tells.
    assert main(["verify", str(bad)]) == 0
    assert main(["verify", str(bad), "--dataset", str(road)]) == 3
    assert "spoiled: answers of these kinds are not the right ones: toll" in capsys.readouterr().out


def test_by_the_answers(run: Path, road: Path, tmp_path: Path, capsys: Capsys) -> None:
    bundle = bundle_of(run, tmp_path / "run.zip", "--with-output")
    capsys.readouterr()
    assert main(["verify", str(bundle), "--dataset", str(road)]) == 0
    assert "judged again  run: PASS again, by all its answers" in capsys.readouterr().out
    bad = bundle_of(spoiled(run, tmp_path / "spoiled"), tmp_path / "bad.zip", "--with-output")
    assert main(["verify", str(bad), "--dataset", str(road)]) == 3
    assert "spoiled: the judge says FAIL, the bundle PASS" in capsys.readouterr().out


def test_a_verdict_that_says_so(run: Path, road: Path, tmp_path: Path, capsys: Capsys) -> None:
    """A run that failed is no less checked."""
    folder = spoiled(run, tmp_path / "spoiled")
    record: Any = read_run(folder)
    said = {**json.loads((folder / "verdict.json").read_text()), **{"verdict": "FAIL"}}
    said["answers"]["toll"]["wrong"] = 1
    (folder / "verdict.json").write_text(json.dumps(said))
    write_run(folder, {**record, "verdict": "FAIL"})
    assert main(["verify", str(bundle_of(folder, tmp_path / "bad.zip")), "--dataset", str(road)]) == 0
    assert "not all answers are right, as the verdict says: toll" in capsys.readouterr().out
    assert verdict(record)["verdict"] == "PASS"


def test_other_data_are_refused(run: Path, tmp_path: Path, capsys: Capsys) -> None:
    other = tmp_path / "other"
    one_dataset([Road(random_lines(6, minutes=3, xways=1), *random_history(6, xways=1))], other, "generate")
    bundle = bundle_of(run, tmp_path / "run.zip")
    assert main(["verify", str(bundle), "--dataset", str(other)]) == 1
    assert f"run is a run of road, not of the data in {other}" in capsys.readouterr().err


def test_a_real_rating(run: Path, road: Path, tmp_path: Path, capsys: Capsys) -> None:
    """From the search to the board."""
    words = ["--engine", "sqlite", "--max", "2", "--step", "1", "--repeat", "2", "--out", str(tmp_path / "rating")]
    assert main(["rate", "--dataset", str(road), *words]) == 0
    assert ": 2, the median of 2, 2" in capsys.readouterr().out
    (tmp_path / "sent").mkdir()
    bundle = bundle_of(tmp_path / "rating", tmp_path / "sent" / "rating.zip")
    capsys.readouterr()
    assert main(["verify", str(bundle), "--dataset", str(road), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["rating"], told["faults"]) == ("rating", 2, [])
    assert len(told["judged_again"]) == 2 and all(one["fits"] for one in told["judged_again"])
    assert main(["board", str(tmp_path / "sent"), str(tmp_path / "rating"), "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert (result["xways"], result["ratings"], result["is_rating"]) == (2, [2, 2], True)
