"""`--repeat` and several L, as a user types them: real runs, judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from driver.cli import main
from tests.support.browser import look, needs_browser
from tests.support.files_page import check_csv, check_json
from tests.support.one_dataset import Road, one_dataset
from tests.support.random_road import random_history, random_lines


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One expressway that passes for a generated one, so that it can be copied."""
    folder = tmp_path_factory.mktemp("repeat") / "road"
    one_dataset([Road(random_lines(3, minutes=3, xways=1), *random_history(3, xways=1))], folder, "generate")
    return folder


@pytest.fixture(scope="module")
def scaling(road: Path, own_environment: None) -> Path:
    from tests.conftest import shared_spark

    shared_spark()
    out = road.parent / "scaling"
    words = ["--engines", "sqlite,aurora --workers 1", "--xways", "1,3", "--repeat", "2", "--clock", "virtual"]
    assert main(["compare", str(road), *words, "--out", str(out)]) == 0
    return out


def test_a_run_three_times(road: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "three"
    words = ["run", str(road), "--engine", "sqlite", "--clock", "virtual", "--repeat", "3", "--out", str(out)]
    assert main(words) == 0
    told = capsys.readouterr()
    assert "run: 3 of 3" in told.err and "median of 3 runs, and their range" in told.out
    check_json(out / "comparison.json")
    (system,) = json.loads((out / "comparison.json").read_text())["systems"]
    assert (system["runs"], system["states"], system["verdicts"]) == (["1", "2", "3"], ["complete"] * 3, [None] * 3)
    outputs = {
        tuple(line.split(",")[0] for line in (out / name / "output.csv").read_text().splitlines()) for name in "123"
    }
    assert len(outputs) == 1
    assert main(words) == 1
    assert "exists; choose another --out" in capsys.readouterr().err


def test_systems_at_several_l(scaling: Path) -> None:
    check_json(scaling / "comparison.json")
    check_csv(scaling / "scaling.csv")
    systems = json.loads((scaling / "comparison.json").read_text())["systems"]
    assert [(system["label"], system["xways"], system["verdicts"]) for system in systems] == [
        (label, xways, ["PASS", "PASS"]) for label in ("sqlite", "aurora") for xways in (1, 3)
    ]
    assert len((scaling / "scaling.csv").read_text().splitlines()) == 9


@needs_browser
def test_the_page_in_a_browser(scaling: Path, browser: Any) -> None:
    for width, dark in ((390, True), (1280, False)):
        charts = look(browser, scaling / "compare.html", width, dark)
        assert [chart["title"] for chart in charts] == ["What a tuple costs, by L", "Response time of tolls, p99, by L"]
        assert all(chart["legend"] == ["sqlite", "aurora"] for chart in charts)


def test_who_was_late_is_not_run_with_more(road: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--engines", "aurora --workers 1", "--xways", "1,2", "--repeat", "2", "--clock", "virtual"]
    late = ["--limits", "0.001", "--stop-when-late", "--out", str(tmp_path / "out")]
    assert main(["compare", str(road), *words, *late]) == 3
    assert "leaving out aurora, L = 2, repetition 2: it was late at L = 1" in capsys.readouterr().err
    (system,) = json.loads((tmp_path / "out" / "comparison.json").read_text())["systems"]
    assert (system["xways"], system["states"]) == (1, ["late", "late"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["{road}", "--engines", "aurora --repeat 2"], "give --repeat to lrb compare itself"),
        (["{road}", "--xways", "1,2,1"], "an L is named twice"),
        (["{road}", "--anatomy", "--repeat", "2"], "--anatomy calls it --readings"),
        (["{run}", "{run}", "--repeat", "2"], "need a data set to run"),
    ],
)
def test_refusals(
    scaling: Path, road: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    places = {"road": road, "run": scaling / "1-sqlite-1"}
    assert main(["compare", *(word.format(**places) for word in words), "--out", str(tmp_path / "out")]) == 1
    assert sentence in capsys.readouterr().err
