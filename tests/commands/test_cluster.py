"""`lrb cluster`, and the commands that run on it: byte for byte what one machine gives."""

from __future__ import annotations

import json
import re
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
from tests.conftest import Sql, lrb_options
from tests.support.strangers import spark_asks_for_a_secret

# Several commands, one after the other, with one Spark for all of them.
SCRIPT = """
import json, sys
from driver.cli import main
for words in json.loads(sys.argv[1]):
    assert main(words) == 0, words
"""
GENERATE = ["generate", "--xways", "1.5", "--minutes", "3", "--history-days", "3"]


@pytest.fixture(scope="module")
def cluster(server: Server) -> Iterator[Cluster]:
    assert main(["cluster", "start", "--workers", "2"]) == 0
    found = find_cluster()
    assert found
    yield found
    assert main(["cluster", "stop"]) == 0
    assert not found.is_alive() and not cluster_folder().exists()


def on_cluster(cluster: Cluster, *commands: list[object]) -> str:
    words = json.dumps([[*map(str, command), "--master", cluster.master] for command in commands])
    done = subprocess.run([sys.executable, "-c", SCRIPT, words], **lrb_options({}))
    assert done.returncode == 0, done.stderr
    return done.stdout


def contents(folder: Path) -> dict[str, bytes]:
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    files["dataset.json"] = re.sub(rb'"(created|name)": "[^"]*"', b"", files["dataset.json"])
    return files


def test_what_it_says(cluster: Cluster, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "status"]) == 0
    out = capfd.readouterr().out
    assert cluster.master in out and "2 of 2, each with 1 core and 1,024 MB" in out
    master, *workers = (process.pid for process in cluster.processes)
    assert f"{master} is the master; workers: {workers[0]}, {workers[1]}" in out
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


def test_commands_on_it(
    cluster: Cluster, spark: Any, sql: Sql, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    local, remote, run = tmp_path / "local" / "road", tmp_path / "cluster" / "road", tmp_path / "run"
    assert main([*GENERATE, "--out", str(local)]) == 0
    words = ["run", str(local), "--engine", "sqlite", "--clock", "virtual", "--out", str(run)]
    assert main(words) == 0
    assert main(["validate", str(local), str(run)]) == 0
    here = (run / "verdict.json").read_bytes()
    (run / "verdict.json").unlink()
    on_cluster(
        cluster,
        [*GENERATE, "--out", remote],
        ["load", remote, "--database", "on_a_cluster"],
        ["validate", local, run],
    )
    assert contents(remote) == contents(local)
    assert (run / "verdict.json").read_bytes() == here and json.loads(here)["verdict"] == "PASS"


def test_a_worker_that_died(cluster: Cluster, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Last of all: a stream that loses a worker on the way has all answers, once; the cluster is not whole any more."""
    venv.create(tmp_path / "bare", symlinks=True)
    words = [cluster.master, cluster.processes[-1].pid, tmp_path / "bare" / "bin" / "python", tmp_path]
    command = [sys.executable, "-m", "tests.support.stream_on_cluster", *map(str, words)]
    done = subprocess.run(command, **lrb_options({}))
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["refused"].startswith("the workers cannot import numpy: install numpy there, or set PYSPARK_PYTHON")
    assert (said["missing"], said["extra"]) == ([], []) and said["answers"] > 500
    assert said["facts"]["executors_lost"] >= 1 and said["facts"]["shards"] == 2
    cluster_module._reap(cluster.processes)
    assert main(["cluster", "status"]) == 1
    assert "no cluster runs; lrb cluster start starts one" in capfd.readouterr().out


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
