"""`lrb run --engine structured_streaming` as a user types it: copies, a period, a verdict; and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from driver.cli import main
from tests.conftest import Lrb, refused

STREAM = ["--engine", "structured_streaming"]


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streaming") / "road"
    assert main(["generate", "--xways", "1", "--minutes", "4", "--history-days", "3", "--out", str(folder)]) == 0
    return folder


def test_a_run_is_judged_right(spark: Any, road: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Three expressways, copies of one, by five shards; the last request kind is left out."""
    run = tmp_path / "run"
    words = [*STREAM, "--clock", "virtual", "--period", "20", "--xways", "3", "--shards", "5", "--warm-up", "1"]
    words += ["--from-minute", "2", "--ignore", "travel_time", "--checkpoint", str(tmp_path / "state")]
    assert main(["run", str(road), *words, "--limits", "60", "--out", str(run)]) == 0
    captured = capfd.readouterr()
    assert "warming up with 1 s of input" in captured.err and "5 shards take turns on 2 cores" in captured.err
    assert main(["validate", str(road), str(run)]) == 0
    record = json.loads((run / "run.json").read_text())
    facts = record["environment"]["engine"]
    assert (facts["shards"], facts["warm_up_s"], facts["durability"]) == (5, 1, "off")
    assert facts["checkpoint"].startswith(str(tmp_path / "state")) and facts["checkpoint_bytes"] > 10_000
    assert list((tmp_path / "state").iterdir()) == []
    assert record["answers"]["toll"]["received"] > 1000
    assert set(record["cycles"]["steps_mean_ms"]) == {"share_ms", "stream_ms"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--shards", "0"], "--shards must be 1 to 1000, not 0"),
        (["--warm-up", "601"], "--warm-up must be 0 to 600, not 601"),
        (
            ["--workers", "2"],
            "engine structured_streaming has shards for workers: leave out --workers",
        ),
        (["--master", "yarn"], "the workers of yarn must see the state of the run: give --checkpoint, a folder on"),
    ],
)
def test_refusals(road: Path, words: list[str], sentence: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(road), *STREAM, *words]) == 1
    assert sentence in capfd.readouterr().err


def test_a_cluster_that_is_not_there(lrb: Lrb, road: Path, tmp_path: Path, free_port: int) -> None:
    master = f"spark://127.0.0.1:{free_port}"
    words = [*STREAM, "--master", master, "--checkpoint", tmp_path, "--out", tmp_path / "run"]
    said = refused(lrb("run", road, *words))
    assert f"no Spark cluster answers at --master {master}; lrb cluster start starts one on this machine" in said
    assert not (tmp_path / "run").exists()
