"""`lrb validate` and `lrb expected`, as a user types them; most in this process, which has a Spark already."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from pathlib import Path

import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from driver.cli import main
from driver.cli.validate import verdict_path
from driver.cli.verdict_text import text
from driver.dataset.folder import open_dataset
from driver.run.config import RunConfig
from driver.run.loop import broken_run
from driver.run.record import write_run
from driver.validate.odd_lines import NOTES
from driver.validate.overview import take_overview
from tests import traces
from tests.conftest import shared_spark
from tests.support.files_page import check_csv, check_json, columns, schema
from tests.support.made_run import make_run
from tests.support.one_dataset import Road, one_dataset

NAMES = ("alert_range", "balance_times", "daily_expenditure", "travel_east", "no_data")


def road_of(name):
    trace = traces.load(name)
    return Road(trace.lines, trace.toll_history, trace.segment_history, trace.expected)


@pytest.fixture(scope="module")
def road(tmp_path_factory):
    folder = tmp_path_factory.mktemp("validate") / "dé [1]" / "road"
    one_dataset([road_of(name) for name in NAMES], folder)
    return folder


@pytest.fixture(scope="module")
def right(own_environment, road):
    """What `lrb expected` writes for the road."""
    shared_spark()
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


def test_from_nothing_to_the_verdict_of_a_run(lrb, road, output):
    """The whole command, with a Spark of its own, in a locale that is not installed; the run keeps its verdict."""
    dataset = open_dataset(road)
    write_run(output.parent, broken_run(RunConfig(str(road)), dataset, "it never ran"))
    scratch = output.parent / "a, 'b' é*"
    scratch.mkdir()
    done = lrb("validate", road, output.parent, LC_ALL="tr_TR.UTF-8", TMPDIR=scratch)
    assert not list(scratch.iterdir())
    assert (done.returncode, done.stdout.split()[0]) == (0, "PASS"), done.stderr
    assert json.loads((output.parent / "run.json").read_text())["verdict"] == "PASS"
    verdict = json.loads((output.parent / "verdict.json").read_text())
    assert (verdict["format"], verdict["verdict"], list(verdict["answers"])) == (
        1,
        "PASS",
        ["toll", "accident", "balance", "expenditure", "travel_time"],
    )
    toll = verdict["answers"]["toll"]
    assert toll["expected"] == toll["received"] > 0
    assert (toll["missing"], toll["p99.9"], toll["max"]) == (0, 0.0, 0.0)


def test_other_limits(validate, road, output):
    """Those of the option or of the run: a millisecond over is late, exactly the limit is in time."""
    rows = [line.split(",") for line in output.read_text().splitlines()]
    for kind, later in ((0, 3.001), (2, 3.0)):
        row = next(row for row in rows if row[0] == str(kind))
        row[traces.EMIT[kind]] = f"{float(row[traces.EMIT[kind]]) + later:.3f}"
    output.write_text("".join(",".join(row) + "\n" for row in rows))
    status, verdict, _ = validate("--output", output, "--limits", "3", "--json")
    late = {kind: answer["late"] for kind, answer in verdict["answers"].items() if answer["late"]}
    assert (status, late, verdict["limits"]) == (3, {"toll": 1}, dict.fromkeys(verdict["answers"], 3))
    config = RunConfig(str(road), limits={"toll": 3.001, "balance": 2.999})
    write_run(output.parent, broken_run(config, open_dataset(road), "it never ran"))
    status, _, said = validate(output.parent)
    assert status == 3 and "limits toll 3.001 s, balance 2.999 s instead of the specification's" in said
    check_json(output.parent / "verdict.json")
    verdict = json.loads((output.parent / "verdict.json").read_text())
    late = {kind: answer["late"] for kind, answer in verdict["answers"].items() if answer["late"]}
    assert (late, verdict["limits"]["expenditure"]) == ({"balance": 1}, 10)


def test_run_of_another_dataset(validate, tmp_path):
    run = make_run(tmp_path / "run")
    (run / "output.csv").touch()
    status, _, said = validate(run)
    assert status == 1 and "is a run of road, not of" in said


def test_expected_files(right):
    lines = right.read_text().splitlines()
    assert all(line.split(",")[traces.EMIT[int(line[0])]].endswith(".000") for line in lines)
    with right.with_suffix(".balances.csv").open(newline="") as file:
        ranges = list(csv.DictReader(file))
    assert ranges and all(int(row["result_time_from"]) <= int(row["result_time_until"]) for row in ranges)
    tables = sorted(path.name for path in (right.parent / "tables").iterdir())
    assert tables == ["accident", "assessment", "segment_minute", "stop"]
    for name in tables:
        assert columns(name) == schema(pyarrow.dataset.dataset(right.parent / "tables" / name).schema)
    check_csv(right.with_suffix(".balances.csv"))


def test_empty_output(validate, output):
    output.write_text("")
    status, _, said = validate("--output", output)
    assert status == 3 and "\nFAIL" in "\n" + said and "the file is empty" in said


def test_output_of_another_dataset(validate, output):
    """Of those expressways, too, that are not judged."""
    output.write_text("0,987654,5,5.000,-1,0\n3,7,7.000,123456,0\n")
    status, verdict, _ = validate("--output", output, "--xways", "0", "--json")
    assert (status, verdict["answers"]["toll"]["extra"], verdict["answers"]["toll"]["received"]) == (3, 1, 1)
    assert "is it the output of another one?" in text(verdict)[-1]


def test_unsorted_with_odd_lines(validate, output):
    """Blank lines, unknown types and fields too many are said but do not fail; nor do more decimals."""
    lines = output.read_text().splitlines()[::-1]
    toll = next(number for number, line in enumerate(lines) if line.startswith("0,") and number > 1)
    field = lines[toll].split(",")
    lines[toll] = ",".join([*field[:3], field[3].removesuffix("00") + "0004", *field[4:]])
    odd = ["", "7,1,2,3", *[line + ",x" for line in lines[:2]], *lines[2:], "  ", "toll,1"]
    output.write_text("\r\n".join(odd) + "\r\n")
    status, verdict, _ = validate("--output", output, "--json", "--lenient")
    noticed = verdict["lines"]
    assert (status, noticed["blank"], noticed["unknown_type"], noticed["malformed"]) == (0, 2, 2, 0)
    assert (noticed["extra_fields"], noticed["examples"][1]) == (2, [2, "7,1,2,3"])
    assert verdict["answers"]["toll"]["max"] == pytest.approx(0.00004)


def test_too_long_and_cut_in_the_middle(validate, output):
    lines = output.read_text().splitlines(keepends=True)
    output.write_text("".join(lines * 10) + lines[-1][:5])
    status, verdict, _ = validate("--output", output, "--json")
    counts = verdict["answers"].values()
    assert (status, [kind["duplicate"] for kind in counts]) == (3, [9 * kind["expected"] for kind in counts])
    assert verdict["lines"]["malformed"] == 1


def test_explained(validate, output, tmp_path):
    """One alert is missing, and lines with numbers that are none are no answers."""
    lines = output.read_text().splitlines(keepends=True)
    spoilt = next(line for line in lines if line.startswith("1,"))
    wrong = ["0,1,2,3.000,x,0\n", "0,1.5,2,3.000,1,0\n", "3,7,,1,0\n", "3,7,7.000,1\n", "4,1,now,2,3,4\n"]
    output.write_text("".join([line for line in lines if line != spoilt] + wrong))
    status, _, said = validate("--output", output, "--explain", 2, "--faults", tmp_path / "faults.csv")
    assert status == 3 and f"{len(wrong)} lines: malformed" in said
    assert "accident missing" in said and "accident ahead in segment" in said and "cars in the minute before" in said
    check_csv(tmp_path / "faults.csv")
    check_json(tmp_path / "output.verdict.json", "verdict.json")
    with (tmp_path / "faults.csv").open(newline="") as file:
        (fault,) = csv.DictReader(file)
    second, vid = spoilt.split(",")[1], spoilt.split(",")[3]
    assert (fault["answer"], fault["fault"], fault["time"], fault["id"]) == ("accident", "missing", second, vid)
    assert fault["input"].startswith(f"0,{second},{vid},")


def test_late_answers_are_explained(validate, output, tmp_path):
    """All answers are right, but the last one is late."""
    rows = [line.split(",") for line in output.read_text().splitlines()]
    row = rows[-1]
    at = traces.EMIT[int(row[0])]
    row[at] = f"{float(row[at]) + 31:.3f}"
    output.write_text("".join(",".join(row) + "\n" for row in rows))
    status, _, said = validate("--output", output, "--explain", 1, "--faults", tmp_path / "faults.csv")
    with (tmp_path / "faults.csv").open(newline="") as file:
        (fault,) = csv.DictReader(file)
    assert (status, fault["fault"], fault["received"]) == (3, "late", ",".join(row))
    assert f"{fault['answer']} late: Time" in said and "the limit  demands" in said


def test_a_page_of_faults(validate, output, tmp_path):
    """Of an output without faults, too; nothing of the output's text becomes a part of the page."""
    assert validate("--output", output, "--page", tmp_path / "right.html")[0] == 0
    page = (tmp_path / "right.html").read_text()
    assert "<strong>PASS</strong>" in page and "0 faults" in page and "<svg" not in page
    lines = output.read_text().splitlines()
    spoilt = [line for line in lines if not line.startswith("1,")]
    spoilt[0] += ",<script>x</script>"
    output.write_text("\n".join([*spoilt, spoilt[0]]) + "\n")
    status, _, said = validate("--output", output, "--page", tmp_path / "faults.html")
    page = (tmp_path / "faults.html").read_text()
    assert status == 3 and str(tmp_path / "faults.html") in said
    assert "<strong>FAIL</strong>" in page and "<script" not in page
    for title in ("accident: faults by the minute", "Toll notifications and alerts, east", "accident missing: Time"):
        assert title in page


def test_faults_as_parquet(validate, output, tmp_path):
    """The same rows as in CSV; nothing is to be said of an output that is right."""
    assert validate("--output", output, "--faults", tmp_path / "none.parquet")[0] == 0
    assert pq.read_table(tmp_path / "none.parquet").num_rows == 0
    output.write_text("".join(output.read_text().splitlines(keepends=True)[::2]))
    for name in ("a.csv", "a.parquet"):
        assert validate("--output", output, "--faults", tmp_path / name)[0] == 3
    table = pq.read_table(tmp_path / "a.parquet")
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert table.num_rows == len(rows) > 5
    assert [
        {name: "" if value is None else str(value) for name, value in row.items()} for row in table.to_pylist()
    ] == rows
    assert [int(row["time"]) for row in rows] == sorted(int(row["time"]) for row in rows)


def test_no_balance_is_explained_by_a_time_before_the_start(validate, output):
    lines = output.read_text().splitlines()
    earliest = min((line for line in lines if line.startswith("2,")), key=lambda line: int(line.split(",")[1]))
    output.write_text("\n".join([*(line for line in lines if line != earliest), earliest + "9"]) + "\n")
    status, _, said = validate("--output", output, "--explain", 1)
    assert status == 3 and int(earliest.split(",")[1]) < 60
    assert "at ResultTime 0 to" in said and "ResultTime -" not in said


def test_some_minutes_of_some_expressways(validate, road, right, tmp_path, capsys):
    """The part's answers pass; so do all expressways' answers, as what the others expect does not count."""
    part, minutes = tmp_path / "part.csv", ("--from-minute", "2", "--to-minute", "4")
    assert main(["expected", str(road), "--out", str(part), *minutes]) == 0
    capsys.readouterr()
    status, verdict, _ = validate("--output", part, "--json", *minutes, "--xways", "0")
    toll = verdict["answers"]["toll"]
    assert (status, verdict["minutes"], verdict["xways"]) == (0, [2, 4], [0])
    assert 0 < toll["expected"] == toll["received"] < sum(line[0] == "0" for line in part.read_text().splitlines())


BINARY = bytes(range(256)) * 300
HOSTILE = {
    "binary": (lambda right: BINARY + b"\n" + right, {"unknown_type"}, 0),
    "nothing but line ends": (lambda right: b"\n\r\n\r\n" + right, {"blank"}, 0),
    "a line of 100 MB": (lambda right: right + b"0," + b"1" * 100_000_000 + b"\n", {"malformed"}, 3),
    "old line ends": (lambda right: right.replace(b"\n", b"\r"), set(), 0),
    "cut in the middle of a line": (lambda right: right[:-3], None, 3),
    "answers before the first second": (lambda right: right + b"0,1,-5,-5.000,-1,0\n", set(), 3),
    "a Time that no run has": (lambda right: right + b"0,1,10800,10800.000,-1,0\n", set(), 3),
    "a Time that is no number of seconds": (lambda right: right + b"0,1,99999999999,1.000,-1,0\n", {"malformed"}, 3),
    "an absurd Emit": (lambda right: right + b"0,1,2,1e400,-1,0\n", {"malformed"}, 3),
    "a million of one line": (lambda right: right + right.splitlines(keepends=True)[0] * 1_000_000, set(), 3),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_output_that_nobody_should_write(validate, right, tmp_path, name):
    """A verdict, whatever the file holds; what is no answer is said, and no wrong answer passes."""
    make, notes, status = HOSTILE[name]
    output = tmp_path / "output.csv"
    output.write_bytes(make(right.read_bytes()))
    # A million faults take their time to be written.
    faults = () if name.startswith("a million") else ("--faults", tmp_path / "faults.csv")
    found, verdict, _ = validate("--output", output, "--json", *faults)
    lines = verdict["lines"]
    assert found == status
    assert notes is None or {note for note in NOTES if lines[note]} == notes
    if name.startswith("a million"):
        assert sum(kind["duplicate"] for kind in verdict["answers"].values()) == 1_000_000
    assert len(json.dumps(lines["examples"])) < 2000


@pytest.mark.parametrize("moment", ["driver.validate.judge.take_overview", "driver.validate.fault_files._write_csv"])
def test_an_interrupt_leaves_nothing_half_written(validate, output, monkeypatch, moment):
    """While it judges, or while it writes the faults: then the verdict is there, and complete."""

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(moment, interrupt)
    # The session of the other tests.
    monkeypatch.setattr("driver.cli._end_spark", lambda: None)
    output.write_text("".join(output.read_text().splitlines(keepends=True)[1:]))
    status, _, said = validate("--output", output, "--faults", output.parent / "faults.csv")
    written = ["output.verdict.json"] if moment.endswith("_write_csv") else []
    assert (status, "lrb: interrupted" in said) == (2, True)
    assert sorted(path.name for path in output.parent.iterdir()) == ["output.csv", *written]
    for name in written:
        check_json(output.parent / name, "verdict.json")


def test_negative_and_late_emits(validate, output):
    """Of the right answers, one is early and one is very late."""
    lines = output.read_text().splitlines()
    at = [number for number, line in enumerate(lines) if line.startswith("3,")]
    for number, emit in zip(at, ("-1.5", "99999999999.5"), strict=False):
        field = lines[number].split(",")
        lines[number] = ",".join([*field[:2], emit, *field[3:]])
    output.write_text("\n".join(lines))
    status, verdict, _ = validate("--output", output, "--json")
    answers = verdict["answers"]["expenditure"]
    assert (status, answers["early"], answers["late"], answers["wrong"], len(at) > 1) == (3, 1, 1, 0, True)


def test_output_that_grows_while_it_is_judged(validate, output, monkeypatch):
    def look_and_wait(right, path, limits):
        overview = take_overview(right, path, limits)
        with path.open("a") as file:
            file.write("0,1,2,3.000,4,5\n")
        return overview

    monkeypatch.setattr("driver.validate.judge.take_overview", look_and_wait)
    status, _, said = validate("--output", output)
    assert status == 1 and "has changed while it was judged; judge it when it is complete" in said
    assert not list(output.parent.glob("*.json"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--output", "absent.csv"], "absent.csv is not a file"),
        (["--output", "/dev/null"], "/dev/null is not a file"),
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


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        pytest.param(lambda text: text, "is not packed by gzip, though its name ends in .gz", id="plain"),
        pytest.param(lambda text: b"", "is not packed by gzip", id="empty"),
        pytest.param(lambda text: gzip.compress(text)[:-9], "is cut short (gzip ends early)", id="cut"),
        pytest.param(lambda text: gzip.compress(text)[:-8] + b"checksum", "is damaged", id="damaged"),
    ],
)
def test_packed_output_that_is_spoilt(validate, right, tmp_path, spoil, sentence):
    (tmp_path / "a.csv.gz").write_bytes(spoil(right.read_bytes()))
    status, _, said = validate("--output", tmp_path / "a.csv.gz")
    assert (status, said.startswith("lrb: "), sentence in said, "Spark" in said) == (1, True, True, False), said


def test_packed_output_keeps_its_own_verdict(validate, right, tmp_path):
    """Its odd lines have their numbers, too."""
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"\n7,seven\n" + right.read_bytes()))
    status, verdict, _ = validate("--output", tmp_path / "a.csv.gz", "--json")
    assert (status, verdict["lines"]["examples"]) == (0, [[1, ""], [2, "7,seven"]])
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".json"] == ["a.verdict.json"]


def test_names_of_verdicts():
    names = {"a.csv": "a", "a.csv.gz": "a", "answers": "answers", "answers.v1": "answers.v1", "b.tsv": "b.tsv"}
    for output, verdict in names.items():
        assert verdict_path(Path("x") / output) == Path("x") / f"{verdict}.verdict.json"
