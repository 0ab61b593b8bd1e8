"""A standalone Spark cluster on this machine: a master and workers as processes of their own, on loopback.

Everything about it lies in a folder of the state folder: who runs, the secret that they share, their logs.  It is for
tests and lessons: it shows that a command works on a cluster, and what the way there costs.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from driver.spark.java import java_home
from polling_baseline.files import complete_file
from polling_baseline.project import ROOT, state_folder
from polling_baseline.refusal import Refusal

LOOPBACK = "127.0.0.1"
# By this name Spark hands the secret to its own processes.
SECRET_VARIABLE = "_SPARK_AUTH_SECRET"
START_S, END_S = 60.0, 20.0
DAEMON_MEMORY = "256m"
# Applications come by the port that asks for the secret, and by no other.
DAEMON_OPTIONS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Dspark.authenticate=true",
    "-Dspark.master.rest.enabled=false",
)


@dataclass(frozen=True, slots=True)
class Process:
    """A process, by number and the moment it started: numbers are used again."""

    pid: int
    started: str

    def is_alive(self) -> bool:
        return _started(self.pid) == self.started


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster that was started; whether it still runs is another question."""

    port: int
    page_port: int
    workers: int
    cores: int
    memory_mb: int
    processes: tuple[Process, ...]

    @property
    def master(self) -> str:
        """What `--master` takes."""
        return f"spark://{LOOPBACK}:{self.port}"

    @property
    def secret(self) -> str:
        return (cluster_folder() / "secret").read_text()

    def is_alive(self) -> bool:
        return all(process.is_alive() for process in self.processes)


def cluster_folder() -> Path:
    return state_folder() / "spark"


def find_cluster(master: str | None = None) -> Cluster | None:
    """The cluster of this state folder, if one was started and not stopped; with `master`, if that is its address."""
    try:
        record = json.loads((cluster_folder() / "cluster.json").read_text())
        cluster = Cluster(**{**record, "processes": tuple(Process(**process) for process in record["processes"])})
        return cluster if master in (None, cluster.master) else None
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError):
        raise Refusal(f"{cluster_folder()}/cluster.json is damaged; lrb cluster stop removes it") from None


def start_cluster(workers: int, cores: int, memory_mb: int) -> Cluster:
    """Start a master and workers, and wait until all have found each other."""
    if (there := find_cluster()) and there.is_alive():
        raise Refusal(f"a cluster runs at {there.master}; lrb cluster stop ends it")
    stop_cluster()
    folder = cluster_folder()
    folder.mkdir(parents=True)
    folder.chmod(0o700)
    (folder / "secret").write_text(secrets.token_hex(32))
    port, page_port = _free_ports(2)
    environment = _environment(folder)
    processes: list[Process] = []

    def run(name: str, *words: str) -> None:
        processes.append(_run(folder, name, environment, *words))

    try:
        run("master", "--host", LOOPBACK, "--port", str(port), "--webui-port", str(page_port))
        cluster = Cluster(port, page_port, workers, cores, memory_mb, ())
        for number in range(1, workers + 1):
            words = ["--host", LOOPBACK, "--cores", str(cores), "--memory", f"{memory_mb}m", "--webui-port", "0"]
            run(f"worker-{number}", *words, "--work-dir", str(folder / f"work-{number}"), cluster.master)
        cluster = Cluster(port, page_port, workers, cores, memory_mb, tuple(processes))
        _wait_for_workers(cluster, folder)
        with complete_file(folder / "cluster.json") as file:
            file.write(json.dumps(asdict(cluster)).encode())
    except BaseException:
        _end(processes)
        raise
    return cluster


def stop_cluster() -> bool:
    """End its processes and remove its folder; False if there was none."""
    folder = cluster_folder()
    if not folder.exists():
        return False
    with suppress(Refusal):
        if cluster := find_cluster():
            _end(cluster.processes)
    shutil.rmtree(folder)
    return True


def alive_workers(cluster: Cluster) -> int:
    """How many workers the master knows."""
    with suppress(OSError, ValueError):
        return int(_page(cluster)["aliveworkers"])
    return 0


def _page(cluster: Cluster) -> dict[str, Any]:
    with urlopen(f"http://{LOOPBACK}:{cluster.page_port}/json/", timeout=5) as page:
        return dict(json.load(page))


def _environment(folder: Path) -> dict[str, str]:
    import pyspark

    (folder / "java").mkdir()
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))},
        "JAVA_HOME": str(java_home(folder / "java").absolute()),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_DAEMON_MEMORY": DAEMON_MEMORY,
        "SPARK_DAEMON_JAVA_OPTS": " ".join(DAEMON_OPTIONS),
        SECRET_VARIABLE: (folder / "secret").read_text(),
        "PYTHONPATH": str(ROOT),
        "LC_ALL": "C.UTF-8",
    }


def _run(folder: Path, name: str, environment: dict[str, str], *words: str) -> Process:
    role = name.partition("-")[0]
    command = [f"{environment['SPARK_HOME']}/bin/spark-class", f"org.apache.spark.deploy.{role}.{role.title()}", *words]
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    # It outlives this command, of which Popen would warn.
    process.returncode = 0
    return Process(process.pid, _started(process.pid) or "")


def _wait_for_workers(cluster: Cluster, folder: Path) -> None:
    deadline = time.monotonic() + START_S
    while alive_workers(cluster) < cluster.workers:
        if not cluster.is_alive() or time.monotonic() > deadline:
            logs = " ".join(sorted(str(path) for path in folder.glob("*.log")))
            raise Refusal(f"the cluster did not start within {START_S:.0f} s; its logs say why: {logs}")
        time.sleep(0.2)


def _end(processes: tuple[Process, ...] | list[Process]) -> None:
    """Workers end with their executors; each process leads a group of its own."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in reversed(processes):
            if process.is_alive():
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
        deadline = time.monotonic() + END_S
        while any(process.is_alive() for process in processes) and time.monotonic() < deadline:
            _reap(processes)
            time.sleep(0.05)


def _reap(processes: tuple[Process, ...] | list[Process]) -> None:
    """Those that this very command has started."""
    for process in processes:
        with suppress(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)


def _started(pid: int) -> str | None:
    """When a process that runs was started, in the words of ps."""
    done = subprocess.run(["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True)
    state, _, started = done.stdout.strip().partition(" ")
    return None if not started or state.startswith("Z") else started.strip()


def _free_ports(count: int) -> list[int]:
    held = [socket.create_server((LOOPBACK, 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in held]
    for server in held:
        server.close()
    return ports
