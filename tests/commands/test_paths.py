"""No path is ever interpreted: wildcards, hidden names and whatever else Spark, Parquet or a shell would make of it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from driver.cli import main
from driver.dataset.folder import open_dataset
from tests import traces
from tests.conftest import shared_spark
from tests.support.one_dataset import TIME_AT, Road, one_dataset, output_line
from tests.support.tables import files
from tests.unit.test_files import CONTENTS

NAMES = ("daily_expenditure", "travel_east")
# Spark would take it for a pattern and for a partition, whose value replaces that of the history's column `day`.
ODD = "[a1] {b,c} *?\\ 'x' \"y\" $(z) day=5 %20 é a:b #"
HIDDEN = "_x/.y"


@pytest.fixture(scope="module")
def odd(own_environment, tmp_path_factory) -> Path:
    """A folder with an odd name; in it the data set `road`, its right answers as worked out by hand and by Spark."""
    shared_spark()
    folder = tmp_path_factory.mktemp("paths") / ODD / HIDDEN
    loaded = [traces.load(name) for name in NAMES]
    roads = [Road(trace.lines, trace.toll_history, trace.segment_history, trace.expected) for trace in loaded]
    _, answers = one_dataset(roads, folder / "road")
    lines = [output_line(answer, 1000 * answer[TIME_AT[answer[0]]]) for road in answers for answer in road]
    (folder / "_[1].csv").write_text("".join(f"{line}\n" for line in lines))
    words = ["expected", str(folder / "road"), "--out", str(folder / "{a,b}.csv"), "--tables", str(folder / "[t]")]
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
    by_hand, by_spark = ((odd / name).read_text().splitlines() for name in ("_[1].csv", "{a,b}.csv"))
    assert sorted(by_hand) == sorted(by_spark)
    assert sorted(path.name for path in odd.iterdir()) == [
        *("[t]", "_[1].csv", "_[1].verdict.json", "road", "{a,b}.balances.csv", "{a,b}.csv")
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


def test_parquet_files_and_decoys(spark, tmp_path):
    """Several files of one folder, too, and one that is not asked for."""
    numbers = {"[1]/a": 1, "[1]/b": 2, "[1]/c": 4, "1/a": 8, "*/a": 16, "number=9/a": 32, "_x/.y/[z]/a": 64}
    for name, number in numbers.items():
        path = tmp_path / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"number": pa.array([number], pa.int32())}), path)
    for names in (["[1]/a", "[1]/b"], ["[1]/a", "[1]/b", "[1]/c"], ["*/a"], ["number=9/a"], ["_x/.y/[z]/a"]):
        paths = [tmp_path / f"{name}.parquet" for name in names]
        rows = files.read_parquet(spark, paths, pa.schema([pa.field("number", pa.int32())])).collect()
        assert sorted(row.number for row in rows) == sorted(numbers[name] for name in names)


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
