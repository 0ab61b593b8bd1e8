"""`lrb cluster`, and the commands that run on it: byte for byte what one machine gives."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from driver.cli import main
from driver.spark import cluster as cluster_module
from driver.spark.cluster import Cluster, cluster_folder, find_cluster
from polling_baseline.database.embedded.server import Server
from tests.conftest import lrb_options
from tests.support.cluster_comparison import Commands, compare
from tests.support.strangers import spark_asks_for_a_secret


@pytest.fixture(scope="module")
def cluster(server: Server) -> Iterator[Cluster]:
    assert main(["cluster", "start", "--workers", "3"]) == 0
    found = find_cluster()
    assert found
    yield found
    assert main(["cluster", "stop"]) == 0
    assert not found.is_alive() and not cluster_folder().exists()


def test_there_is_none(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    """First of all."""
    assert main(["cluster", "status"]) == 1
    assert "no cluster runs; lrb cluster start starts one" in capfd.readouterr().out


def test_what_it_says(cluster: Cluster, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "status"]) == 0
    out = capfd.readouterr().out
    assert cluster.master in out and "3 of 3, each with 1 core and 1,024 MB" in out
    master, *workers = (process.pid for process in cluster.processes)
    assert f"{master} is the master; workers: {', '.join(map(str, workers))}" in out
    assert main(["cluster", "start"]) == 1
    assert f"a cluster runs at {cluster.master}; lrb cluster stop ends it" in capfd.readouterr().err


def test_who_may_talk_to_it(cluster: Cluster) -> None:
    """Those who know its secret, on loopback; that is in no list of processes and no log."""
    assert spark_asks_for_a_secret(cluster.port)
    secret = cluster.secret
    assert cluster_folder().stat().st_mode & 0o077 == 0
    for process in cluster.processes:
        assert secret.encode() not in Path(f"/proc/{process.pid}/cmdline").read_bytes()
    for log in cluster_folder().glob("*.log"):
        assert secret not in log.read_text()
    listening = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True).stdout.splitlines()
    pids = {f"pid={process.pid}," for process in cluster.processes}
    ours = [line.split()[3] for line in listening if any(pid in line for pid in pids)]
    assert ours and all("127.0.0.1" in address for address in ours)


def test_commands_on_it(cluster: Cluster, spark: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def do_here(commands: Commands) -> None:
        for words in commands:
            assert main(words) == 0, words

    compare(cluster.master, tmp_path, do_here)


def test_workers_that_died(cluster: Cluster, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Last of all: a stream that loses executors and workers has all answers, once; the cluster is not whole then."""
    venv.create(tmp_path / "bare", symlinks=True)
    words = [cluster.master, tmp_path / "bare" / "bin" / "python", tmp_path]
    workers = [process.pid for process in cluster.processes[1:]]
    command = [sys.executable, "-m", "tests.support.stream_on_cluster", *map(str, [*words, *workers])]
    done = subprocess.run(command, **lrb_options({}))
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    bare, none = said["refused"]
    assert bare.startswith("the workers cannot import numpy: install numpy there, or set PYSPARK_PYTHON")
    assert none == "the workers have no /no/such/python: set PYSPARK_PYTHON to a Python that they have"
    assert (said["missing"], said["extra"]) == ([], []) and said["answers"] > 500
    assert said["killed"] == ["executor", "executor", "worker", "worker"]
    # The second worker's executor may not have come back before it died.
    assert said["facts"]["executors_lost"] >= 3 and said["facts"]["shards"] == 2
    cluster_module._reap(cluster.processes)
    assert main(["cluster", "status"]) == 0
    assert "1 of 3, each with 1 core" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--workers", "0"], "--workers must be 1 or more, not 0"),
        (["--cores", "0"], "--cores must be 1 or more, not 0"),
        (["--memory", "100"], "--memory must be 512 or more, not 100"),
    ],
)
def test_refusals(capfd: pytest.CaptureFixture[str], words: list[str], sentence: str) -> None:
    assert main(["cluster", "start", *words]) == 1
    assert sentence in capfd.readouterr().err
