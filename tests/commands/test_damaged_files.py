"""A data set of which a byte has changed: every command names the file, and none goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from driver.cli import main
from driver.dataset.folder import open_dataset, read_minutes
from polling_baseline.parquet import read_columns
from polling_baseline.refusal import Refusal
from tests import traces
from tests.support.one_dataset import Road, one_dataset

TRAFFIC, TOLL = "traffic/xway-000.parquet", "history/toll/block-0000-week-00.parquet"


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    trace = traces.load("daily_expenditure")
    folder = tmp_path_factory.mktemp("damaged") / "road"
    one_dataset([Road(trace.lines, trace.toll_history, trace.segment_history)], folder, "generate")
    return folder


@pytest.fixture
def road(sound, tmp_path) -> Path:
    return shutil.copytree(sound, tmp_path / "road")


def spoil(file: Path, at: int = 20, length: int = 1) -> None:
    """Change a byte of the first column's data, which Parquet does not notice, or more of them; the size stays."""
    data = bytearray(file.read_bytes())
    start = pq.ParquetFile(file).metadata.row_group(0).column(0).data_page_offset + at
    data[start : start + length] = bytes(byte ^ 0xFF for byte in data[start : start + length])
    file.write_bytes(data)


@pytest.mark.parametrize("name", [TRAFFIC, TOLL])
@pytest.mark.parametrize(
    "words",
    [
        ["show", "ROAD"],
        ["show", "ROAD", "--check"],
        ["export", "ROAD", "--out", "OUT"],
        ["load", "ROAD"],
        ["run", "ROAD", "--engine", "aurora", "--clock", "virtual", "--out", "OUT"],
        ["validate", "ROAD", "--output", __file__],
        ["expected", "ROAD", "--out", "OUT"],
        ["aurora", "check", "--xways", "1", "--dataset", "ROAD"],
        ["rate", "--engine", "aurora", "--dataset", "ROAD", "--out", "RATING"],
    ],
    ids=lambda words: " ".join(words[:3:2]),
)
def test_every_command_names_the_file(server, road, capsys, words, name):
    spoil(road / name)
    places = {"ROAD": str(road), "OUT": str(road.parent / "out"), "RATING": str(road.parent / "rating")}
    assert main([places.get(word, word) for word in words]) == 1
    assert f"lrb: {road / name} is damaged; make the data set again\n" in capsys.readouterr().err
    assert not (road.parent / "out").exists()


def test_a_sound_one(road, capsys):
    assert main(["show", str(road), "--check"]) == 0
    assert capsys.readouterr().out == f"{road}: {len(open_dataset(road).files)} files, each as it was made\n"


def test_what_dataset_json_does_not_name_is_no_part_of_it(road):
    before = open_dataset(road).traffic
    shutil.copy(road / TRAFFIC, road / "traffic" / "xway-777.parquet")
    assert open_dataset(road).traffic == before


def test_damage_that_is_met_in_a_run(road, capsys, monkeypatch):
    """As if it had come after the check: the run breaks, and its reason is the file, not what was written."""
    monkeypatch.setattr("driver.run.loop.check_files", lambda dataset: None)
    spoil(road / TRAFFIC, 0, 9)
    run = road.parent / "run"
    assert main(["run", str(road), "--engine", "aurora", "--clock", "virtual", "--out", str(run)]) == 2
    reason = json.loads((run / "run.json").read_text())["reason"]
    assert reason.startswith(f"{road / TRAFFIC} is damaged (") and reason.endswith("; make the data set again")


def test_reading_what_is_damaged_or_gone(road):
    for name, read in ((TRAFFIC, lambda path: list(read_minutes(path))), (TOLL, read_columns)):
        spoil(road / name, 0, 9)
        with pytest.raises(Refusal, match=r"parquet is damaged \(.+\); make"):
            read(road / name)
        (road / name).write_bytes(b"PAR1")
        with pytest.raises(Refusal, match=r"parquet is damaged \(.+\); make"):
            read(road / name)
        (road / name).unlink()
        with pytest.raises(Refusal, match=r"cannot read .+parquet: No such file"):
            read(road / name)
