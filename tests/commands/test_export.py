"""`lrb export`, and import after it: the same data set."""

from __future__ import annotations

import pytest

from driver.cli import main
from driver.dataset.folder import open_dataset

LINES = [
    "0,0,1,50,0,1,0,0,100,-1,-1,-1,-1,-1,-1",
    "2,0,99,-1,-1,-1,-1,-1,-1,7,-1,-1,-1,-1,-1",
    "0,30,1,50,2,1,1,0,100,-1,-1,-1,-1,-1,-1",
    "2,31,1,-1,-1,-1,-1,-1,-1,8,-1,-1,-1,-1,-1",
    "3,61,1,-1,0,-1,-1,-1,-1,9,-1,-1,-1,-1,69",
    "4,10799,1,-1,2,-1,-1,-1,-1,9223372036854775807,0,99,7,1440,-1",
]


@pytest.fixture
def road(tmp_path):
    (tmp_path / "input.csv").write_text("\n".join([*LINES, "no line"]))
    assert main(["import", str(tmp_path / "input.csv"), "--out", str(tmp_path / "road")]) == 0
    return tmp_path / "road"


@pytest.mark.parametrize("options", [[], ["--gzip"]])
def test_import_of_an_export_is_the_same(road, tmp_path, options):
    flat, back = tmp_path / "flat", tmp_path / "back"
    assert main(["export", str(road), "--out", str(flat), *options]) == 0
    assert main(["import", *map(str, sorted(flat.glob("xway-*"))), "--out", str(back), "--strict"]) == 0
    assert open_dataset(back).identity == open_dataset(road).identity
    assert open_dataset(back).xways == open_dataset(road).xways


def test_lines_are_the_classical_ones(road, tmp_path):
    assert main(["export", str(road), "--out", str(tmp_path / "flat")]) == 0
    assert (tmp_path / "flat" / "xway-000.csv").read_text().splitlines() == [LINES[0], LINES[1], LINES[4]]
    assert (tmp_path / "flat" / "xway-002.csv").read_text().splitlines() == [LINES[2], LINES[3], LINES[5]]


def test_an_export_is_replaced_only_by_force_and_nothing_else_ever(road, tmp_path, capsys):
    words = ["export", str(road), "--out", str(tmp_path / "flat")]
    assert main(words) == 0
    assert main(words) == 1
    assert main([*words, "--force", "--gzip"]) == 0
    assert sorted(path.name for path in (tmp_path / "flat").iterdir()) == ["xway-000.csv.gz", "xway-002.csv.gz"]
    (tmp_path / "flat" / "thesis.tex").touch()
    assert main([*words, "--force"]) == 1
    assert (tmp_path / "flat" / "thesis.tex").exists()
    assert "thesis.tex" in capsys.readouterr().err


def test_what_is_no_data_set_is_refused(tmp_path, capsys):
    assert main(["export", str(tmp_path), "--out", str(tmp_path / "flat")]) == 1
    assert "is not a data set" in capsys.readouterr().err
