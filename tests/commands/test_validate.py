"""`lrb validate` and `lrb expected`, as a user types them; most in this process, which has a Spark already."""

from __future__ import annotations

import csv
import json
import shutil

import pytest

from driver.cli import main
from driver.cli.validate import text
from driver.dataset import open_dataset
from driver.result import write_run
from driver.spark.answers import output_lines
from driver.spark.reference import reference
from tests import traces
from tests.one_dataset import Road, one_dataset

NAMES = ("alert_range", "balance_times", "daily_expenditure", "travel_east", "no_data", "accident_timing")


def road_of(name):
    trace = traces.load(name)
    return Road(trace.lines, trace.toll_history, trace.segment_history, trace.expected)


@pytest.fixture(scope="module")
def road(tmp_path_factory):
    folder = tmp_path_factory.mktemp("validate") / "road"
    one_dataset([road_of(name) for name in NAMES], folder)
    return folder


@pytest.fixture(scope="module")
def right(road):
    """What `lrb expected` writes for the road."""
    out = road.parent / "right.csv"
    assert main(["expected", str(road), "--out", str(out), "--tables", str(road.parent / "tables")]) == 0
    return out


@pytest.fixture
def validate(spark, road, capsys):
    """`validate("--output", file)`: exit status, verdict.json or None, and all that was said."""

    def run(*words):
        status = main(["validate", str(road), *map(str, words)])
        out, err = capsys.readouterr()
        return status, json.loads(out) if "--json" in words and out else None, out + err

    return run


@pytest.fixture
def output(right, tmp_path):
    """A copy of the right output, to spoil."""
    return shutil.copy(right, tmp_path / "output.csv")


def test_from_nothing_to_a_verdict(lrb, road, right, tmp_path):
    done = lrb("validate", road, "--output", right, "--verdict", tmp_path / "verdict.json")
    assert (done.returncode, done.stdout.split()[0]) == (0, "PASS"), done.stderr
    verdict = json.loads((tmp_path / "verdict.json").read_text())
    assert (verdict["format"], verdict["verdict"], list(verdict["answers"])) == (
        1,
        "PASS",
        ["toll", "accident", "balance", "expenditure", "travel_time"],
    )
    toll = verdict["answers"]["toll"]
    assert toll["expected"] == toll["received"] > 0
    assert (toll["missing"], toll["p99.9"], toll["max"]) == (0, 0.0, 0.0)


def test_expected_files(right):
    lines = right.read_text().splitlines()
    assert all(line.split(",")[traces.EMIT[int(line[0])]].endswith(".000") for line in lines)
    with right.with_suffix(".balances.csv").open(newline="") as file:
        ranges = list(csv.DictReader(file))
    assert ranges and all(int(row["result_time_from"]) <= int(row["result_time_until"]) for row in ranges)
    tables = sorted(path.name for path in (right.parent / "tables").iterdir())
    assert tables == ["accident", "assessment", "segment_minute", "stop"]


def test_a_run_keeps_its_verdict(validate, road, output):
    facts = {"config": {"from_minute": 1, "to_minute": 180}, "dataset": {"name": "road", "identity": "another"}}
    write_run(output.parent, facts)
    status, _, said = validate(output.parent)
    assert status == 1 and "is a run of road, not of" in said
    facts["dataset"]["identity"] = open_dataset(road).identity
    write_run(output.parent, facts)
    status, _, said = validate(output.parent)
    assert (status, json.loads((output.parent / "run.json").read_text())["verdict"]) == (0, "PASS")
    assert json.loads((output.parent / "verdict.json").read_text())["verdict"] == "PASS"


def test_empty_output(validate, output):
    output.write_text("")
    status, _, said = validate("--output", output)
    assert status == 3 and "\nFAIL" in "\n" + said and "the file is empty" in said


def test_output_of_another_dataset(validate, output):
    output.write_text("0,987654,5,5.000,-1,0\n3,7,7.000,123456,0\n")
    status, verdict, _ = validate("--output", output, "--json")
    assert (status, verdict["answers"]["toll"]["extra"], verdict["answers"]["toll"]["received"]) == (3, 1, 1)
    assert "is it the output of another one?" in text(verdict)[-1]


def test_unsorted_with_odd_lines(validate, output):
    """Blank lines, unknown types and fields too many are said but do not fail."""
    lines = output.read_text().splitlines()[::-1]
    output.write_text("\n".join(["", "7,1,2,3", *[line + ",x" for line in lines[:2]], *lines[2:], "  "]) + "\n")
    status, verdict, _ = validate("--output", output, "--json")
    noticed = verdict["lines"]
    assert (status, noticed["blank"], noticed["unknown_type"], noticed["malformed"]) == (0, 2, 1, 0)
    assert (noticed["extra_fields"], noticed["examples"][1]) == (2, [2, "7,1,2,3"])


def test_too_long_and_cut_in_the_middle(validate, output):
    lines = output.read_text().splitlines(keepends=True)
    output.write_text("".join(lines * 10) + lines[-1][:5])
    status, verdict, _ = validate("--output", output, "--json")
    counts = verdict["answers"].values()
    assert (status, [kind["duplicate"] for kind in counts]) == (3, [9 * kind["expected"] for kind in counts])
    assert verdict["lines"]["malformed"] == 1


def test_explained(validate, output, tmp_path):
    lines = output.read_text().splitlines(keepends=True)
    spoilt = next(line for line in lines if line.startswith("1,"))
    output.write_text("".join(line for line in lines if line != spoilt))
    status, _, said = validate("--output", output, "--explain", 2, "--faults", tmp_path / "faults.csv")
    assert status == 3
    assert "accident missing" in said and "accident ahead in segment" in said and "cars in the minute before" in said
    with (tmp_path / "faults.csv").open(newline="") as file:
        (fault,) = csv.DictReader(file)
    second, vid = spoilt.split(",")[1], spoilt.split(",")[3]
    assert (fault["answer"], fault["fault"], fault["time"], fault["id"]) == ("accident", "missing", second, vid)
    assert fault["input"].startswith(f"0,{second},{vid},")


def test_lenient(validate, road, output, spark):
    """The lenient readings fail without --lenient, and are counted apart with it."""
    with reference(spark, open_dataset(road), range(10_800)) as found:
        lines = [row.line for row in output_lines(found.leniently(), None).collect()]
    said = [leniently(line) for line in lines]
    output.write_text("\n".join(said) + "\n")
    changes = {kind: sum(a != b and a[0] == kind for a, b in zip(lines, said, strict=True)) for kind in "04"}
    status, verdict, _ = validate("--output", output, "--json")
    strict = verdict["answers"]
    assert (status, strict["accident"]["missing"] > 0, strict["toll"]["wrong"] >= changes["0"] > 0) == (3, True, True)
    status, verdict, _ = validate("--output", output, "--json", "--lenient")
    lenient = {kind: verdict["answers"][kind]["lenient"] for kind in verdict["answers"]}
    assert (status, verdict["accidents_end"]) == (0, "a minute earlier")
    assert (lenient["toll"], lenient["accident"]) == (strict["toll"]["wrong"], strict["accident"]["missing"])
    assert lenient["travel_time"] == changes["4"] > 0


def leniently(line):
    """No data as LAV 0 or nothing; travel time and toll one more than they should be."""
    field = line.split(",")
    if field[0] == "0" and field[4] == "-1":
        field[4] = "" if int(field[2]) % 2 else "0"
    if field[0] == "4" and int(field[4]) > 0:
        field[4:6] = str(int(field[4]) + 1), str(int(field[5]) + 1)
    return ",".join(field)


def test_some_expressways(validate, right, tmp_path):
    status, verdict, _ = validate("--output", right, "--xways", "0", "--json", "--verdict", tmp_path / "v.json")
    toll = verdict["answers"]["toll"]
    lines = right.read_text().splitlines()
    assert (status, verdict["xways"], toll["received"]) == (0, [0], toll["expected"])
    assert 0 < toll["expected"] < sum(line[0] == "0" for line in lines)


def test_some_minutes(validate, road, tmp_path, capsys):
    part, minutes = tmp_path / "part.csv", ("--from-minute", "2", "--to-minute", "4")
    assert main(["expected", str(road), "--out", str(part), *minutes]) == 0
    capsys.readouterr()
    status, verdict, _ = validate("--output", part, "--json", *minutes)
    assert (status, verdict["minutes"]) == (0, [2, 4])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--output", "absent.csv"], "absent.csv is not a file"),
        ([], "name a run, or an output file"),
        (["absent"], "absent is not a run"),
        (["--output", __file__, "--xways", "999"], "has no expressway 999"),
        (["--output", __file__, "--xways", "a"], "numbers with commas between"),
        (["--output", __file__, "--to-minute", "181"], "minutes 1 to 181 are not in"),
        (["--output", __file__, "--travel-time", "minutes"], "with --lenient only"),
    ],
)
def test_refusals(validate, words, sentence):
    status, _, said = validate(*words)
    assert (status, said.startswith("lrb: "), sentence in said) == (1, True, True), said


def test_not_a_dataset(capsys, tmp_path):
    assert main(["validate", str(tmp_path), "--output", __file__]) == 1
    assert "is not a data set" in capsys.readouterr().err
