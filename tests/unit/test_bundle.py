"""`lrb bundle` and `lrb verify`: what goes into a bundle, what comes out, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from driver.cli import main
from driver.publish import archive
from driver.publish.output_digest import output_digest
from driver.publish.private import public_command
from tests.conftest import ROOT
from tests.support.files_page import check_json
from tests.support.made_results import bundle_of, judged_run, made_rating, rewritten
from tests.support.made_run import make_run

Capsys = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged_run(tmp_path_factory.mktemp("bundle") / "0007-polling-L0.5")


@pytest.fixture(scope="module")
def bundle(run: Path) -> Path:
    return bundle_of(run, run.parent / "mine.zip")


def contents(bundle: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(bundle) as file:
        return {name: file.read(name) for name in file.namelist()}


def refusal(capsys: Capsys, bundle: Path) -> str:
    assert main(["verify", str(bundle)]) == 1
    return capsys.readouterr().err


def test_round_trip_in_another_folder(bundle: Path, tmp_path: Path, monkeypatch: Any, capsys: Capsys) -> None:
    shutil.copy(bundle, tmp_path / "theirs.zip")
    monkeypatch.chdir(tmp_path)
    assert main(["verify", "theirs.zip", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["name"], told["files"], told["faults"]) == ("run", "0007-polling-L0.5", 4, [])
    assert told["runs"][0]["verdict"] == "PASS" and told["runs"][0]["has_digest"]
    assert main(["verify", "theirs.zip"]) == 0
    said = capsys.readouterr().out
    assert "its records agree with each other" in said
    assert f"\nmachine       {told['machines'][0]}\n" in said and "GB of memory" in told["machines"][0]
    with zipfile.ZipFile("theirs.zip") as file:
        file.extractall("out")
    check_json(tmp_path / "out" / "bundle.json")
    (inside,) = (tmp_path / "out" / "runs").iterdir()
    for name in ("run.json", "verdict.json"):
        check_json(inside / name)
    assert main(["report", str(inside)]) == 0


def test_a_busy_machine_is_told(bundle: Path, tmp_path: Path, capsys: Capsys) -> None:
    def busy(record: dict[str, Any]) -> None:
        record["environment"]["machine"]["others_cores"] = 1.5

    assert main(["verify", str(rewritten(bundle, tmp_path / "x.zip", {"run.json": busy}))]) == 0
    assert "\nnote          Something else was running when 1 of 1 runs began" in capsys.readouterr().out


def test_the_same_folder_gives_the_same_bytes(run: Path, bundle: Path, tmp_path: Path) -> None:
    copy = tmp_path / run.name
    shutil.copytree(run, copy, copy_function=shutil.copyfile)
    assert bundle_of(copy, tmp_path / "again.zip").read_bytes() == bundle.read_bytes()
    with zipfile.ZipFile(bundle) as file:
        names = file.namelist()
        assert all(entry.date_time == (1980, 1, 1, 0, 0, 0) for entry in file.infolist())
    assert names == ["bundle.json", *sorted(names[1:])]


def test_the_digest_is_the_one_that_anyone_computes(run: Path, bundle: Path) -> None:
    program = ROOT / "docs" / "examples" / "digest.py"
    done = subprocess.run(
        [sys.executable, "-I", program, run / "output.csv"], capture_output=True, text=True, check=True
    )
    assert contents(bundle)[f"runs/{run.name}/digest.csv"].decode() == done.stdout


@pytest.mark.parametrize("line", ["nonsense", "0,1,2,3.0,4", "0,1,2,3.0,4,5,6", "7,1,2,3,4", "0,1,10800,3.0,4,5", "é"])
def test_no_digest_of_what_is_no_answer(tmp_path: Path, line: str) -> None:
    output = tmp_path / "output.csv"
    output.write_text("0,1,2,3.0,4,5\n" * 3)
    assert output_digest(output) is not None
    output.write_text(f"0,1,2,3.0,4,5\n{line}\n")
    assert output_digest(output) is None


def test_nothing_private_is_in_it(tmp_path: Path) -> None:
    def private(record: dict[str, Any]) -> None:
        record["environment"]["engine"] |= {
            "token": "f00dcafe",
            "driver": "lr_driver_ann",
            "server": {
                "embedded": False,
                "host": "db.secret.example",
                "port": 5433,
                "database": "annsdata",
                "user": "ann",
                "version": "18.4",
                "dsn": "host=db.secret.example user=ann",
            },
            "system": "/home/ann/bin/my_system --password hunter2 --api-key=hunter3 ./config.toml",
        }
        record["reason"] = "/home/ann/runs/output.csv: No space left; see postgresql://ann:hunter4@db.secret.example/x"
        record["config"]["dataset"] = "/home/ann/roads/road1"

    options = {"command": "/home/ann/bin/my_system --token hunter5 --fast", "marks": "on"}
    run = judged_run(tmp_path / "run", change=private, engine="exec", engine_options=options)
    files = contents(bundle_of(run, tmp_path / "run.zip"))
    text = b"".join(files.values()).decode()
    for word in ("hunter", "/home", "ann", "secret.example", "f00dcafe", str(tmp_path), "5433"):
        assert word not in text, re.findall(rf".*{word}.*", text)
    record = json.loads(files["runs/run/run.json"])
    assert record["config"]["engine_options"]["command"] == "my_system --token '***' --fast"
    assert record["environment"]["engine"]["server"]["version"] == "18.4"
    assert record["reason"].startswith("output.csv: No space left")


def test_a_command_that_cannot_be_read_is_hidden() -> None:
    assert public_command("prog 'half") == "***"
    assert public_command("prog 1/2 --ratio 3/4 ./a/b.py") == "prog 1/2 --ratio 3/4 b.py"


def test_an_unjudged_run_is_refused(tmp_path: Path, capsys: Capsys) -> None:
    make_run(tmp_path / "run", 1)
    assert main(["bundle", str(tmp_path / "run"), "--out", str(tmp_path / "x.zip")]) == 1
    assert "is not judged" in capsys.readouterr().err and not (tmp_path / "x.zip").exists()
    assert main(["bundle", str(tmp_path), "--out", str(tmp_path / "x.zip")]) == 1
    assert "no run, rating or comparison" in capsys.readouterr().err


def test_changed_files_are_refused(bundle: Path, tmp_path: Path, capsys: Capsys) -> None:
    changed = rewritten(bundle, tmp_path / "x.zip", {"run.json": lambda record: record.update(state="late")}, fit=False)
    assert "was changed: runs/0007-polling-L0.5/run.json is not what its checksum says" in refusal(capsys, changed)


def test_cut_and_foreign_files_are_refused(bundle: Path, tmp_path: Path, capsys: Capsys) -> None:
    data, path = bundle.read_bytes(), tmp_path / "x.zip"
    for size in (0, 10, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        assert "damaged or cut, or no zip file" in refusal(capsys, path)
    # A byte in the middle of a packed file.
    path.write_bytes(data[: len(data) // 3] + bytes([data[len(data) // 3] ^ 0xFF]) + data[len(data) // 3 + 1 :])
    assert "x.zip" in refusal(capsys, path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("runs/a/run.json", "{}")
    assert "no bundle: it has no bundle.json" in refusal(capsys, path)
    assert "cannot read" in refusal(capsys, tmp_path / "absent.zip")
    assert "cannot read" in refusal(capsys, tmp_path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda record: record.update(format=2), "has format 2, this lrb reads 1; take a newer lrb"),
        (lambda record: record.update(format="1"), "format must be a whole number"),
        (lambda record: record.update(kind="novel"), "no bundle is a 'novel'"),
        (lambda record: record.pop("files"), "it has no files"),
        (lambda record: record["files"].popitem(), "is not both in it and in its list of files"),
    ],
)
def test_manifests(bundle: Path, tmp_path: Path, capsys: Capsys, change: Any, sentence: str) -> None:
    assert sentence in refusal(capsys, rewritten(bundle, tmp_path / "x.zip", {"bundle.json": change}))


def test_a_manifest_of_brackets(tmp_path: Path, capsys: Capsys) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as file:
        file.writestr("bundle.json", "[" * 100_000)
    assert "bundle.json is not JSON" in refusal(capsys, tmp_path / "x.zip")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("/etc/passwd", "would leave its folder, '/etc/passwd'"),
        ("../run.json", "would leave its folder"),
        ("runs/../../run.json", "would leave its folder"),
        ("C:\\run.json", "would leave its folder"),
        ("runs/a/b/run.json", "has a file that no bundle has"),
        ("runs/a/road.parquet", "has a file that no bundle has"),
        ("runs/..a/run.json", "has a file that no bundle has"),
    ],
)
def test_names_of_files(bundle: Path, tmp_path: Path, capsys: Capsys, name: str, sentence: str) -> None:
    path = tmp_path / "x.zip"
    shutil.copy(bundle, path)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(zipfile.ZipInfo(name), b"x")
    assert sentence in refusal(capsys, path)
    assert not Path("/etc/passwd.partial").exists() and not (tmp_path / "run.json").exists()


def test_links_and_bombs(bundle: Path, tmp_path: Path, capsys: Capsys, monkeypatch: Any) -> None:
    path = tmp_path / "x.zip"
    shutil.copy(bundle, path)
    link = zipfile.ZipInfo("runs/a/run.json")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(link, "/etc/passwd")
    assert "an encrypted file or a link" in refusal(capsys, path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("runs/a/output.csv", b"0" * (8 << 20))
    assert "as only a zip bomb does" in refusal(capsys, path)
    monkeypatch.setattr(archive, "MOST_BYTES", 1000)
    assert "would unpack to more than" in refusal(capsys, bundle)
    monkeypatch.setattr(archive, "MOST_FILES", 2)
    assert "has 5 files, more than any bundle" in refusal(capsys, bundle)


def _claim(record: dict[str, Any]) -> None:
    record["dataset"]["xways"] = 99.0


@pytest.mark.parametrize(
    ("file", "change", "sentence"),
    [
        ("run.json", _claim, "the verdict is about another L"),
        ("run.json", lambda record: record["config"].update(xways=7.0), "of another L than its options say"),
        ("run.json", lambda record: record["feed"].update(busy_s=0.1), "the cycles do not add up to the busy time"),
        ("run.json", lambda record: record["feed"].update(rows=1), "do not add up to the tuples"),
        ("run.json", lambda record: record["cycles"].update(max_ms=0.5), "the longest cycle is not the one"),
        ("run.json", lambda record: record["cycles"].update(count=7), "run.json says 7 cycles, cycles.csv has 120"),
        ("run.json", lambda record: record["answers"]["toll"].update(received=1), "kind toll"),
        ("run.json", lambda record: record["answers"]["toll"].update(p50=9.0), "percentiles of kind toll do not rise"),
        ("run.json", lambda record: record["answers"]["toll"].update(late=3), "has 3 late answers"),
        ("run.json", lambda record: record["answers"]["toll"].update(max=3.0), "not that of its slowest minute"),
        ("run.json", lambda record: record["minutes"].pop(), "the minutes do not add up"),
        ("run.json", lambda record: record["config"].update(to_minute=3), "do not cover its minutes"),
        ("run.json", lambda record: record["config"].update(to_minute=0), "its minutes are 1 to 0"),
        ("run.json", lambda record: record["config"].update(limits={"toll": 9}), "limit of kind toll"),
        ("run.json", lambda record: record.update(verdict="FAIL"), "run.json says FAIL, verdict.json says PASS"),
        (
            "verdict.json",
            lambda record: record["answers"]["toll"].update(wrong=1),
            "PASS, with 1 fault\n",
        ),
        ("verdict.json", lambda record: record["answers"]["toll"].update(expected=1), "expected another number"),
        ("verdict.json", lambda record: record["dataset"].update(identity="x"), "the verdict is about other data"),
        ("verdict.json", lambda record: record.update(minutes=[1, 180]), "about other minutes than the run's"),
    ],
)
def test_contradictions(bundle: Path, tmp_path: Path, capsys: Capsys, file: str, change: Any, sentence: str) -> None:
    """Whoever changes a number and makes the checksums fit."""
    assert main(["verify", str(rewritten(bundle, tmp_path / "x.zip", {file: change}))]) == 3
    assert sentence in capsys.readouterr().out


def test_records_of_another_shape_are_refused(bundle: Path, tmp_path: Path, capsys: Capsys) -> None:
    other = rewritten(bundle, tmp_path / "x.zip", {"run.json": lambda record: record.update(feed=[])})
    assert "feed must be an object" in refusal(capsys, other)
    other = rewritten(bundle, tmp_path / "y.zip", {"verdict.json": lambda record: record.pop("lines")})
    assert "has no lines" in refusal(capsys, other)


@pytest.fixture(scope="module")
def rating_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("rating")
    return bundle_of(made_rating(place / "peak", 4.0), place / "peak.zip")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rating": 1000.0, "ratings": [1000.0]}, "the rating is 1000, and its winner is a run of L = 4"),
        ({"ratings": [4.0, 5.0, 5.0]}, "the rating is 4, which is not the median of its looks at the edge"),
        ({"ratings": [4.0, 4.0, 7.0]}, "a look at the edge came to 7, and no run of that L passed"),
        ({"winner": "0002-polling-L5", "rating": 5.0, "ratings": []}, "rests on a run without the verdict PASS"),
        ({"winner": "gone"}, "the run that the rating rests on is not there"),
        ({"kind": "full"}, "the rating is of kind full, and its winner has minutes 1 to 2"),
    ],
)
def test_contradictions_of_a_rating(
    rating_bundle: Path, tmp_path: Path, capsys: Capsys, change: dict[str, Any], sentence: str
) -> None:
    assert main(["verify", str(rating_bundle)]) == 0
    forged = rewritten(rating_bundle, tmp_path / "x.zip", {"rating.json": lambda record: record.update(change)})
    assert main(["verify", str(forged)]) == 3
    assert sentence in capsys.readouterr().out
