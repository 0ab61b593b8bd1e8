"""Records that say what cannot be, and errors that nobody foresaw: a sentence, never a traceback."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import driver.cli.show
from driver.cli import main
from driver.dataset.import_ import ImportOptions, import_dataset
from tests import traces
from tests.support.made_run import make_run

SECRET = "s3cr't %20\\word"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damaged") / "road"
    lines = traces.FOLDER / "fifty_cars" / "input.csv"
    import_dataset(ImportOptions([lines]), folder)
    return folder


@pytest.fixture
def road(sound: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(sound, tmp_path / "road"))


def changed(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    record = json.loads(file.read_text())
    change(record)
    file.write_text(json.dumps(record))


def refusal(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The sentence of a command that refuses."""
    capsys.readouterr()
    status = main([str(word) for word in words])
    said = capsys.readouterr().err
    assert (status, said.count("\n")) == (1, 1), said
    return said


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param({"xways": "one"}, "xways must be a number, not 'one'", id="xways-text"),
        pytest.param({"xways": 0.7}, "xways must be a multiple of 0.5", id="xways-between"),
        pytest.param({"xways": True}, "xways must be", id="xways-truth"),
        pytest.param({"seconds": "60"}, "seconds must be a whole number, not '60'", id="seconds"),
        pytest.param({"seconds": 60.5}, "seconds must be", id="seconds-between"),
        pytest.param({"seconds": -60}, "seconds must be", id="seconds-negative"),
        pytest.param({"seed": "42"}, "seed must be a whole number or null", id="seed"),
        pytest.param({"counts": []}, "counts must be", id="counts"),
        pytest.param({"counts": {"reports": "51"}}, "counts.reports must be a whole number", id="counts-text"),
        pytest.param({"options": None}, "options must be an object", id="options"),
        pytest.param({"files": {"a": {"bytes": 1}}}, "files.a has no sha256", id="files"),
        pytest.param({"files": {"a": 1}}, "files.a must be an object", id="files-number"),
        pytest.param({"seconds": ...}, "it has no seconds", id="no-seconds"),
    ],
)
def test_fields_of_dataset_json(road: Path, capsys, change: dict[str, Any], sentence: str) -> None:
    def spoil(record: dict[str, Any]) -> None:
        record |= change
        for name in [name for name, value in change.items() if value is ...]:
            del record[name]

    record = json.loads((road / "dataset.json").read_text())
    spoil(record)
    (road / "dataset.json").write_text(json.dumps(record))
    assert sentence in refusal(capsys, "show", road)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param(
            lambda record: record["counts"].update(reports=1000),
            "says 1,001 reports and requests, the files in traffic have 53",
            id="reports",
        ),
        pytest.param(
            lambda record: record["counts"].update(toll_history=7),
            "says 7 rows of toll history, the files in history/toll have 0",
            id="history",
        ),
        pytest.param(lambda record: record.update(seconds=6000), "says 6,000 seconds, the traffic ends", id="longer"),
        pytest.param(lambda record: record.update(seconds=60), "says 60 seconds, the traffic ends", id="shorter"),
    ],
)
def test_numbers_that_contradict_the_files(road: Path, capsys, change, sentence: str) -> None:
    changed(road / "dataset.json", change)
    assert sentence in refusal(capsys, "show", road)
    assert sentence in refusal(capsys, "export", road, "--out", road.parent / "flat")


@pytest.mark.parametrize("record", ['{"format": 1}', '{"format": 1, "config": 3, "dataset": {}}', "[]", "1"])
def test_a_run_without_what_it_needs(sound: Path, tmp_path: Path, capsys, record: str) -> None:
    run, good = tmp_path / "run", make_run(tmp_path / "good", 1)
    run.mkdir()
    (run / "run.json").write_text(record)
    (run / "output.csv").touch()
    for words in (
        ["run", "--like", run],
        ["run", "--resume", run],
        ["validate", sound, run],
        ["report", run],
        ["compare", good, run, "--out", tmp_path / "out"],
        ["aurora", "draw", run],
    ):
        assert f"{run}/run.json is damaged" in refusal(capsys, *words)


def test_a_run_with_odd_options(sound: Path, tmp_path: Path, capsys) -> None:
    run = make_run(tmp_path / "run", 1, dataset=str(sound))
    changed(run / "run.json", lambda record: record["config"].update(colour="red"))
    assert "run.json is damaged" in refusal(capsys, "run", "--like", run)
    changed(run / "run.json", lambda record: record["config"].pop("engine"))
    assert "run.json is damaged: config has no engine" in refusal(capsys, "report", run)


@pytest.fixture
def unforeseen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A command that fails as nobody foresaw, and tells the password that it was given; the state folder."""

    def fail(args: Any) -> int:
        raise RuntimeError(f"no way to {SECRET!r}, {SECRET} or {args.dsn}")

    monkeypatch.setenv("LRB_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(driver.cli.show, "run", fail)
    monkeypatch.setattr(driver.cli.show, "add_arguments", lambda parser: parser.add_argument("--dsn"))
    return tmp_path / "state"


def dsn(form: str) -> str:
    quoted = SECRET.replace("\\", "\\\\").replace("'", "\\'")
    return {
        "url": "postgresql://me:s3cr%27t%20%2520%5Cword@host/lr",
        "pairs": f"host=host user=me password='{quoted}'",
    }[form]


@pytest.mark.parametrize("form", ["url", "pairs"])
def test_an_error_that_nobody_foresaw(unforeseen: Path, capsys, form: str) -> None:
    assert main(["show", "--dsn", dsn(form)]) == 2
    said = capsys.readouterr().err
    assert (
        said.startswith('lrb: an error that nobody foresaw: RuntimeError: no way to "***", ***')
        and said.count("\n") == 1
    )
    [log] = unforeseen.glob("error-*.log")
    assert str(log) in said and log.stat().st_mode & 0o777 == 0o600
    text = log.read_text()
    assert "lrb show --dsn" in text and "Traceback" in text and "raise RuntimeError" in text and "lrb 0." in text
    for word in (SECRET, repr(SECRET)[1:-1], "s3cr", "%2520"):
        assert word not in text + said


@pytest.mark.parametrize("name", ["PGPASSWORD", "LRB_DRIVER_PASSWORD"])
def test_passwords_of_the_environment(unforeseen: Path, monkeypatch: pytest.MonkeyPatch, capsys, name: str) -> None:
    monkeypatch.setenv(name, SECRET)
    assert main(["show"]) == 2
    [log] = unforeseen.glob("error-*.log")
    assert "s3cr" not in log.read_text() + capsys.readouterr().err


def test_a_state_folder_that_cannot_be_written(unforeseen: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    unforeseen.write_text("a file")
    elsewhere = unforeseen.with_name("tmp")
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    assert main(["show"]) == 2
    [log] = elsewhere.glob("error-*.log")
    assert str(log) in capsys.readouterr().err and "Traceback" in log.read_text()
