"""`lrb generate`: the same bytes whatever runs beside, nothing left of what fails, and what it refuses."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from driver.cli import main
from driver.dataset.folder import open_dataset
from driver.generate.generate import GenerateOptions, generate
from polling_baseline.refusal import Refusal
from tests.conftest import lrb_command, lrb_options
from tests.support.processes import working_in

SMALL = ("--minutes", "2", "--history-days", "2")


def digests(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*.parquet")))
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def road(tmp_path_factory):
    """One and a half expressways, made by two cores."""
    from driver.spark.session import session

    session("local[2]")
    out = tmp_path_factory.mktemp("a b") / "road"
    assert main(["generate", "--xways", "1.5", *SMALL, "--out", str(out)]) == 0
    return out


def test_what_is_in_it(road):
    dataset = open_dataset(road)
    assert (dataset.xways, dataset.seconds, dataset.seed) == (1.5, 120, 42)
    assert sorted(path.name for path in road.rglob("*") if path.is_file()) == [
        "block-0000-week-00.parquet",
        "block-0001-week-00.parquet",
        "dataset.json",
        *["xway-000-week-00.parquet", "xway-000.parquet", "xway-001-week-00.parquet", "xway-001.parquet"],
    ]
    traffic = {xway: pq.read_table(path) for xway, path in dataset.traffic.items()}
    rows = sum(table.num_rows for table in traffic.values())
    assert rows == sum(dataset.counts[kind] for kind in ("reports", "balance", "expenditure", "travel_time")) > 0
    assert set(traffic[1].filter(pq.read_table(dataset.traffic[1])["kind"].to_numpy() == 0)["dir"].to_pylist()) == {0}
    vehicles = {vehicle for table in traffic.values() for vehicle in table["vehicle_id"].to_pylist()}
    assert len(vehicles) == dataset.counts["vehicles"]
    tolls = pq.read_table([str(path) for path in dataset.toll_history])
    assert tolls.num_rows == dataset.counts["toll_history"] == 2 * len(vehicles)
    assert set(tolls["vehicle_id"].to_pylist()) == vehicles
    assert dataset.counts["segment_history"] == 2 * 1440 * 300


def test_one_core_and_more_expressways_give_the_same_bytes(road, tmp_path, spark):
    # What runs is ended: the next session has another master.
    spark.stop()
    assert main(["generate", "--xways", "2", *SMALL, "--master", "local[1]", "--out", str(tmp_path / "one")]) == 0
    from driver.spark.session import session

    assert session().sparkContext.master == "local[1]"
    session().stop()
    expected, found = digests(road), digests(tmp_path / "one")
    whole = [name for name in expected if "xway-000" in name or "block-0000" in name]
    assert len(whole) == 3
    assert {name: found[name] for name in whole} == {name: expected[name] for name in whole}


def test_another_seed_gives_other_bytes(road, tmp_path, spark):
    generate(GenerateOptions(1.5, 2, seed=43, history_days=2), tmp_path / "other", False, "local[2]")
    expected, found = digests(road), digests(tmp_path / "other")
    assert expected.keys() == found.keys()
    assert not set(expected.values()) & set(found.values())


def test_force_replaces_and_no_history(road, tmp_path, spark, capsys):
    out = tmp_path / "road"
    out.mkdir()
    words = ["generate", "--xways", "0.5", "--minutes", "1", "--history-days", "0", "--out", str(out)]
    assert main(words) == 1
    assert "exists; choose another name or add --force" in capsys.readouterr().err
    assert main([*words, "--force"]) == 0
    assert f"next: lrb show {out}\n  or: lrb load {out}\n" in capsys.readouterr().out
    assert sorted(path.name for path in out.iterdir()) == ["dataset.json", "traffic"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        pytest.param(
            ["--xways", "0"], "argument --xways: L must be a multiple of 0.5 from 0.5 to 1000, not 0", id="none"
        ),
        pytest.param(["--xways", "0.3"], "L must be a multiple of 0.5 from 0.5 to 1000, not 0.3", id="step"),
        pytest.param(["--xways", "5000"], "not 5000", id="many"),
        pytest.param(["--xways", "nan"], "not nan", id="nan"),
        pytest.param(["--xways", "two"], "not two", id="word"),
        pytest.param(["--xways", "1", "--minutes", "181"], "a run has 1 to 180 minutes", id="long"),
        pytest.param(["--xways", "1", "--history-days", "70"], "from 1 to 69, or 0", id="days"),
        pytest.param(["--xways", "1", "--seed", "-1"], "a seed is a number from 0", id="seed"),
    ],
)
def test_refused(tmp_path, capsys, options, sentence):
    assert main(["generate", *options, "--out", str(tmp_path / "road")]) == 1
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_folder_that_cannot_be_made(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["generate", "--xways", "1", "--out", str(tmp_path / "file" / "road")]) == 1
    assert f"cannot write to {tmp_path / 'file'}: " in capsys.readouterr().err


def test_java_too_old(tmp_path, lrb):
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    java.chmod(0o755)
    done = lrb("generate", "--xways", "1", "--out", tmp_path / "road", JAVA_HOME=tmp_path / "java")
    assert (done.returncode, done.stdout) == (1, "")
    assert "holds Java 11, Spark needs 17 or 21" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["java"]


def test_failure_in_a_task_leaves_nothing(tmp_path, spark, monkeypatch):
    def fail(unit, progress_path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("driver.generate.generate.simulate_direction", fail)
    with pytest.raises(Refusal, match="No space left on device; nothing was changed"):
        generate(GenerateOptions(0.5, 1, history_days=0), tmp_path / "road", False, "local[2]")
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_of_what_is_interrupted_or_killed(tmp_path):
    """One that is killed cannot clean up; the next one does it."""
    scratch, out = tmp_path / "scratch", tmp_path / "out"
    scratch.mkdir()
    out.mkdir()
    words = ("generate", "--xways", "2", "--minutes", "180", "--out", out / "road")
    environment = lrb_options({"TMPDIR": scratch})["env"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        left = set(out.iterdir())
        with subprocess.Popen(lrb_command(*words), env=environment, text=True, **pipes) as process:
            deadline_at = time.monotonic() + 120
            while not list(out.glob(".road.partial-*/.progress/*")) or left & set(out.iterdir()):
                assert time.monotonic() < deadline_at
                time.sleep(0.1)
            assert len(list(out.iterdir())) == 1
            (private,) = scratch.iterdir()
            assert private.stat().st_mode & 0o777 == 0o700
            process.send_signal(number)
            said, complained = process.communicate(timeout=60)
        assert said == ""
        if number == signal.SIGKILL:
            _wait_until_nobody_works_in(private)
            assert list(out.iterdir()) and list(scratch.iterdir())
        else:
            assert complained.startswith("lrb: starting Spark\n")
            assert (process.returncode, complained.endswith("lrb: interrupted\n")) == (2, True), complained
            assert "Traceback" not in complained
            assert not [*out.iterdir(), *scratch.iterdir()]


def _wait_until_nobody_works_in(folder: Path) -> None:
    """Java, and the Python of its tasks, end with the command that started them."""
    deadline_at = time.monotonic() + 30
    while working_in(folder):
        assert time.monotonic() < deadline_at
        time.sleep(0.1)
