"""No path is ever interpreted: wildcards, hidden names and whatever else Spark, Parquet or a shell would make of it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from driver.cli import main
from driver.dataset.folder import open_dataset
from driver.validate import input_files as files
from tests import traces
from tests.conftest import shared_spark
from tests.support.one_dataset import Road, one_dataset
from tests.unit.test_files import CONTENTS

NAMES = ("daily_expenditure", "travel_east")
# Spark would take it for a pattern and for a partition, whose value replaces that of the history's column `day`.
ODD = "[a1] {b,c} *?\\ 'x' \"y\" $(z) day=5 %20 é a:b #"
HIDDEN = "_x/.y"


@pytest.fixture(scope="module")
def odd(own_environment, tmp_path_factory) -> Path:
    """A folder with an odd name; in it the data set `road`, its right answers and their tables."""
    shared_spark()
    folder = tmp_path_factory.mktemp("paths") / ODD / HIDDEN
    loaded = [traces.load(name) for name in NAMES]
    roads = [Road(trace.lines, trace.toll_history, trace.segment_history, trace.expected) for trace in loaded]
    one_dataset(roads, folder / "road")
    words = ["expected", str(folder / "road"), "--out", str(folder / "_[1].csv"), "--tables", str(folder / "[t]")]
    assert main(words) == 0
    return folder


def verdict_on(output: Path, odd: Path, capsys) -> dict[str, object]:
    capsys.readouterr()
    main(["validate", str(odd / "road"), f"--output={output}", "--json"])
    verdict = json.loads(capsys.readouterr().out)
    assert isinstance(verdict, dict)
    return verdict


def test_everything_in_an_odd_folder(odd, spark, capsys):
    assert verdict_on(odd / "_[1].csv", odd, capsys)["verdict"] == "PASS"
    assert sorted(path.name for path in odd.iterdir()) == [
        "[t]",
        "_[1].balances.csv",
        "_[1].csv",
        "_[1].verdict.json",
        "road",
    ]
    assert sorted(path.name for path in (odd / "[t]").iterdir()) == ["accident", "assessment", "segment_minute", "stop"]


def test_an_empty_file_is_not_its_neighbour(odd, spark, tmp_path, capsys):
    shutil.copy(odd / "_[1].csv", tmp_path / "a1.csv")
    (tmp_path / "a[1].csv").touch()
    verdict = verdict_on(tmp_path / "a[1].csv", odd, capsys)
    assert (verdict["verdict"], verdict["lines"]["total"]) == ("FAIL", 0)


def test_out_and_in_again_in_an_odd_folder(odd, spark, capsys):
    """The histories go through tasks of Spark."""
    flat, again = odd / "*" / "[flat]", odd / "{again,}"
    assert main(["export", str(odd / "road"), "--out", str(flat)]) == 0
    names = sorted(path.name for path in flat.iterdir())
    histories = [word for kind in ("toll", "segment") for word in (f"--{kind}-history", flat / f"{kind}-history.csv")]
    traffic = [flat / name for name in names if name.startswith("xway")]
    assert main([str(word) for word in ["import", *traffic, *histories, "--out", again]]) == 0
    assert open_dataset(again).counts["toll_history"] > 0
    before, after = (
        pq.read_table([str(path) for path in open_dataset(road).toll_history]) for road in (odd / "road", again)
    )
    assert sorted(map(str, before.to_pylist())) == sorted(map(str, after.to_pylist()))


def test_a_name_that_is_no_text(odd, spark, tmp_path, capsys):
    """Java would see another one."""
    name = tmp_path / os.fsdecode(b"a\xff.csv")
    name.touch()
    for words in (["validate", "--output"], ["expected", "--out"], ["expected", "--out", tmp_path / "a", "--tables"]):
        assert main([words[0], str(odd / "road"), *map(str, words[1:]), str(name)]) == 1
        assert "a\\xff.csv is not text in UTF-8" in capsys.readouterr().err


def test_a_flat_file_with_any_name(spark, tmp_path):
    for name in ("[1]", "{a,b}", "*", "?", "\\", "_u", ".h", "a._COPYING_", "a:b=1 %20,é#", "-x\n", " ", "a.gz.csv"):
        (tmp_path / name).write_text(name)
        expected = name.splitlines()
        assert [row.value for row in files.read_lines(spark, tmp_path / name).collect()] == expected


def test_lines_as_spark_has_them(spark, tmp_path):
    for content in CONTENTS:
        path = tmp_path / "lines"
        path.write_bytes(content)
        tables = (spark.read.text(str(path)), files.read_lines(spark, path))
        expected, found = (table.selectExpr("CAST(value AS binary) line").collect() for table in tables)
        assert found == expected
