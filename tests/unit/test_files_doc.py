"""`docs/files.md`: every key and column that lands on disk is there, with its type; none that does not exist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest

from driver.dataset import rejects
from driver.dataset.folder import NAME as DATASET
from driver.dataset.folder import SEGMENT_SCHEMA, TOLL_SCHEMA
from driver.dataset.import_ import ImportOptions, import_dataset
from driver.rating.candidate import Candidate
from driver.rating.record import CandidateRecord
from driver.report import scaling
from driver.report.dataset import KINDS
from driver.report.html.run import write_report
from driver.run import journal
from driver.run.config import OPTIONS
from driver.run.record_types import RunOptions
from driver.validate import fault_files
from driver.validate.answers import BALANCE_HEADING
from polling_baseline.batch import ANSWER_KINDS, INPUT_SCHEMA
from polling_baseline.database.embedded.server import SOCKET_PORT
from polling_baseline.database.embedded.server_home import ServerHome
from polling_baseline.engines.aurora.inspect.network_data import network_facts
from polling_baseline.engines.aurora.linear_road.history import EMPTY
from polling_baseline.engines.aurora.node import Node
from polling_baseline.engines.aurora.node import Options as NodeOptions
from tests.support import files_page as page
from tests.support.made_run import make_run, verdict

TOPS = (
    "dataset.json",
    "run.json",
    "verdict.json",
    "judge.json",
    "comparison.json",
    "bundle.json",
    "rating.json",
    "reproduction.json",
    "anatomy.json",
    "lesson.json",
    "check.json",
)
CSV = {
    "rejects.csv": rejects.HEADER,
    "cycles.csv": journal.COLUMNS,
    "faults.csv": fault_files.COLUMNS,
    "scaling.csv": scaling.COLUMNS,
    "right.balances.csv": BALANCE_HEADING.strip().split(","),
}
PARQUET = {"Traffic": INPUT_SCHEMA, "Toll history": TOLL_SCHEMA, "Segment history": SEGMENT_SCHEMA}
# The blocks of the page that are to be tried out.
JQ = re.findall(r"^    (jq .+)$", page.PAGE.read_text(), re.MULTILINE)
PANDAS = re.findall(r"^(    import pandas\n(?:    .+\n)+)", page.PAGE.read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set and a run with a verdict, by the names of the page."""
    folder = tmp_path_factory.mktemp("files")
    reports = (f"0,{second},{second % 30},50,0,1,0,0,100,-1,-1,-1,-1,-1,-1\n" for second in range(120))
    (folder / "cars.csv").write_text("".join(["no report\n", *reports]))
    import_dataset(ImportOptions([folder / "cars.csv"]), folder / "road1")
    run = make_run(folder / "runs" / "0001-polling-L1")
    said = verdict(json.loads((run / "run.json").read_text()))
    (run / "verdict.json").write_text(json.dumps(said))
    write_report(run)
    return folder


@pytest.mark.parametrize("heading", page.RECORDS)
def test_keys(heading: str) -> None:
    """Every key, no other key, with its type and with the mark of what may be absent."""
    record, documented = page.RECORDS[heading], page.keys(heading)
    hints = get_type_hints(record)
    assert documented.keys() == hints.keys()
    for key, (optional, words) in documented.items():
        assert re.fullmatch(page.pattern(hints[key]), words), f"{key}: {words}, not {page.pattern(hints[key])}"
        assert optional == (key in record.__optional_keys__), key


def test_every_record_has_a_table() -> None:
    reached = set().union(*(page.records_in(page.RECORDS[top]) for top in TOPS))
    assert reached == set(page.RECORDS.values())


def test_counts_of_a_data_set(place: Path) -> None:
    documented = list(page.keys("Counts"))
    assert documented == list(KINDS)
    assert documented == list(json.loads((place / "road1" / DATASET).read_text())["counts"])


def test_what_types_do_not_tie_together() -> None:
    """Records that are filled from other types."""
    assert set(OPTIONS) == get_type_hints(RunOptions).keys()
    assert {field.name for field in fields(Candidate)} | {"verdict", "passed"} == get_type_hints(CandidateRecord).keys()


@pytest.mark.parametrize("heading", CSV)
def test_columns(heading: str) -> None:
    assert [name for name, _ in page.columns(heading)] == list(CSV[heading])


@pytest.mark.parametrize("heading", PARQUET)
def test_parquet(heading: str) -> None:
    assert page.columns(heading) == page.schema(PARQUET[heading])
    assert not any(field.nullable for field in PARQUET[heading])


def test_answers() -> None:
    assert page.table("output.csv") == [
        (name, str(kind.number), ",".join(kind.fields), f"{kind.limit_s} s") for name, kind in ANSWER_KINDS.items()
    ]


def test_steps() -> None:
    """The engines' steps are wherever their names are."""
    root = page.PAGE.parents[1]
    client, procedures = (root / "polling_baseline" / "engines").rglob("*.py"), (root / "stored_procs").rglob("*.sql")
    named = {name for file in client for name in re.findall(r'"(\w+_ms)"', file.read_text())}
    named |= {
        f"{name}_ms" for file in procedures for name in re.findall(r"CALL lr\.lap\(.*'(\w+)'\)", file.read_text())
    }
    assert sorted(name for name, _, _ in page.table("Steps")) == sorted(named)


def test_network() -> None:
    assert set(page.keys("network.json")) == network_facts(Node(EMPTY, True, NodeOptions())).keys()


def test_state_folder() -> None:
    home = ServerHome(Path("postgresql"), None)
    files = (home.data, home.log, home.password, home.folder / f".s.PGSQL.{SOCKET_PORT}")
    assert [name for name, _ in page.table("The state folder")][:-1] == [*map(str, files), "spark/"]


@pytest.mark.parametrize(("heading", "folder"), [("A data set", "road1"), ("A run", "runs/0001-polling-L1")])
def test_files_of_a_folder(place: Path, heading: str, folder: str) -> None:
    names = re.findall(r"^        (\S+)", page.sections()[heading], re.MULTILINE)
    patterns = [re.sub(r"\d", r"\\d", re.escape(name)) for name in names]
    found = [path.relative_to(place / folder) for path in (place / folder).rglob("*") if path.is_file()]
    assert len(found) >= 3
    assert [name for name in map(str, found) if not any(re.fullmatch(each, name) for each in patterns)] == []


def test_files_on_disk_are_as_the_page_says(place: Path) -> None:
    run = place / "runs" / "0001-polling-L1"
    for file in (place / "road1" / DATASET, run / "run.json", run / "verdict.json"):
        page.check_json(file)
    options = json.loads((place / "road1" / DATASET).read_text())["options"]
    assert [key for key in options if f"`{key}`" not in page.sections()["dataset.json"]] == []
    page.check_csv(run / "cycles.csv")
    page.check_csv(place / "road1" / "rejects.csv")


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
@pytest.mark.parametrize("command", JQ)
def test_jq(place: Path, command: str) -> None:
    done = subprocess.run(command, shell=True, cwd=place, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout


@pytest.mark.parametrize("block", PANDAS, ids=range(len(PANDAS)))
def test_pandas(place: Path, block: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(place)
    exec(re.sub("^    ", "", block, flags=re.MULTILINE), {})
    assert capsys.readouterr().out


def test_there_are_examples() -> None:
    assert (len(JQ), len(PANDAS)) == (3, 3)
