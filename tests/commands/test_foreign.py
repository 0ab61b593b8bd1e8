"""Systems that are not ours, as a user drives them: started or over TCP, good and bad, judged like every engine."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from driver.cli import main
from driver.dataset.folder import Dataset
from tests import traces
from tests.conftest import ROOT, lrb_command, lrb_options, shared_spark
from tests.support.one_dataset import Road, one_dataset

NAMES = ("daily_expenditure", "travel_east", "balance_of_several_xways", "alert_and_toll")
EXAMPLES = ROOT / "docs" / "examples"
PLAIN, SQLITE = (
    shlex.join([sys.executable, str(EXAMPLES / name)]) for name in ("plain_python.py", "sqlite_polling.py")
)
MINUTES = 3


def system(manner: str, *where: object) -> list[str]:
    return [sys.executable, str(ROOT / "tests" / "support" / "foreign_system.py"), manner, *map(str, where)]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Traces with every kind of answer."""
    loaded = [traces.load(name) for name in NAMES]
    roads = [Road(trace.lines, trace.toll_history, trace.segment_history) for trace in loaded]
    return one_dataset(roads, tmp_path_factory.mktemp("foreign") / "road")[0]


@pytest.fixture(scope="module", autouse=True)
def real_time(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Any]]:
    """A minute on the real clock, of a system that does not echo, beside the other tests; it waits most of the time."""
    folder = tmp_path_factory.mktemp("real") / "run"
    words = ["run", dataset.path, "--engine", "exec", "--to-minute", 1, "--out", folder]
    words += ["--command", shlex.join(system("no-echo"))]
    environment = lrb_options({})["env"]
    with subprocess.Popen(lrb_command(*words), env=environment, stdout=-1, stderr=-1, text=True) as process:
        yield folder, process
        process.kill()


def run(dataset: Dataset, out: Path, *options: object) -> dict[str, Any]:
    words = ["run", dataset.path, "--clock", "virtual", "--to-minute", MINUTES, "--out", out, *options]
    status = main(list(map(str, words)))
    record = json.loads((out / "run.json").read_text())
    assert status == (0 if record["state"] == "complete" else 2)
    return record


def answers_in(folder: Path) -> list[tuple[int, ...]]:
    return sorted(traces.without_emit(line.split(",")) for line in (folder / "output.csv").read_text().splitlines())


@pytest.fixture(scope="module")
def in_process(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an engine of ours answers."""
    out = tmp_path_factory.mktemp("ours") / "run"
    assert run(dataset, out, "--engine", "sqlite")["state"] == "complete"
    return out


def verdict(dataset: Dataset, folder: Path) -> dict[str, Any]:
    assert main(["validate", str(dataset.path), str(folder)]) in (0, 3)
    return json.loads((folder / "verdict.json").read_text())


@pytest.mark.parametrize("command", [PLAIN, SQLITE], ids=["plain_python", "sqlite_polling"])
def test_an_example_answers_like_an_engine(
    spark: Any, dataset: Dataset, in_process: Path, tmp_path: Path, command: str
) -> None:
    record = run(dataset, tmp_path / "run", "--engine", "exec", "--command", command)
    assert record["state"] == "complete"
    assert record["config"]["engine_options"] == {"command": command, "marks": "on", "history": "csv", "patience": "60"}
    assert set(record["cycles"]["steps_mean_ms"]) == {"write_ms", "system_ms"}
    assert all(answer["received"] for answer in record["answers"].values())
    assert answers_in(tmp_path / "run") == answers_in(in_process)
    assert verdict(dataset, tmp_path / "run")["verdict"] == "PASS"


def test_the_same_run_again(dataset: Dataset, tmp_path: Path) -> None:
    options = ["--slower", "3", "--ignore", "travel_time", "--patience", "30", "--catch-up", "off"]
    run(dataset, tmp_path / "1", "--engine", "exec", "--command", PLAIN, *options)
    assert main(["run", "--like", str(tmp_path / "1"), "--out", str(tmp_path / "2")]) == 0
    first, second = (json.loads((tmp_path / name / "run.json").read_text()) for name in "12")
    assert first["config"] == second["config"] and first["config"]["engine_options"]["patience"] == "30"
    assert answers_in(tmp_path / "1") == answers_in(tmp_path / "2")
    assert not [answer for answer in answers_in(tmp_path / "1") if answer[0] == 4]


ECHO = """
import sys
print(sys.stdin.readline(), file=sys.stderr)
print("ready", flush=True)
for line in sys.stdin:
    if line.startswith("mark"):
        print(line, end="", flush=True)
"""


def test_the_first_line(dataset: Dataset, tmp_path: Path) -> None:
    command = shlex.join([sys.executable, "-c", ECHO])
    record = run(
        dataset, tmp_path / "run", "--engine", "exec", "--command", command, "--from-minute", 2, "--history", "parquet"
    )
    assert record["state"] == "complete" and record["covered"] == [60, 179]
    about = json.loads((tmp_path / "run" / "stderr.txt").read_text())
    files = {name: about.pop(name) for name in ("toll_history", "segment_history")}
    assert files["toll_history"] == [str(path) for path in dataset.toll_history]
    assert files["segment_history"] == [str(path) for path in dataset.segment_history]
    assert about == {
        "format": 1,
        "benchmark": "Linear Road",
        "dataset": dataset.name,
        "xways": dataset.xways,
        "first_second": 60,
        "last_second": 179,
        "clock": "virtual",
        "marks": True,
        "history": "parquet",
    }


MANNERS = {"lie, as it is": "wrong", "twice": "duplicate", "mute": "missing", "early-emit": ""}


@pytest.fixture(scope="module")
def compared(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A good system, one of ours, and bad ones, side by side; the judge needs its tables once for all of them."""
    shared_spark()
    out = tmp_path_factory.mktemp("compared") / "comparison"
    bad = [f'exec --command "{shlex.join(system(manner))}"' for manner in MANNERS]
    words = ["--engines", ", ".join([f'exec --command "{PLAIN}"', "sqlite", *bad]), "--clock", "virtual"]
    with contextlib.redirect_stdout(io.StringIO()) as text:
        assert main(["compare", str(dataset.path), *words, "--json", "--out", str(out)]) == 3
    return {run["label"]: run for run in json.loads(text.getvalue())["runs"]}


def test_a_comparison_with_others(compared: dict[str, Any]) -> None:
    assert {label: run["verdict"] for label, run in compared.items()} == {
        "exec python plain_python.py": "PASS",
        "sqlite": "PASS",
        "exec python foreign_system.py lie, as it is": "FAIL",
        "exec python foreign_system.py twice": "FAIL",
        "exec python foreign_system.py mute": "FAIL",
        "exec python foreign_system.py early-emit": "PASS",
    }


@pytest.mark.parametrize(("manner", "fault"), MANNERS.items())
def test_a_bad_system_gets_the_verdict_that_it_deserves(compared: dict[str, Any], manner: str, fault: str) -> None:
    run = compared[f"exec python foreign_system.py {manner}"]
    assert run["state"] == "complete"
    assert [name for name, count in run["faults"].items() if count] == ([fault] if fault else [])


def test_a_slow_system_is_late(dataset: Dataset, tmp_path: Path) -> None:
    command = shlex.join(system("slow"))
    record = run(dataset, tmp_path / "run", "--engine", "exec", "--command", command, "--slower", 100)
    assert record["answers"]["toll"]["late"] > 0
    assert record["cycles"]["largest_backlog_s"] > 5


@pytest.mark.parametrize(
    ("manner", "sentence"),
    [
        ("crash", "RuntimeError: this system cannot go on"),
        ("garbage", "is not an answer"),
        ("stall", "--patience waits longer"),
        ("bad-end", "could not tidy up"),
    ],
)
def test_what_was_answered_before_the_end_is_kept(
    dataset: Dataset,
    in_process: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    manner: str,
    sentence: str,
) -> None:
    command = shlex.join(system(manner))
    record = run(dataset, tmp_path / "run", "--engine", "exec", "--command", command, "--patience", 2)
    assert record["state"] == "broken" and sentence in record["reason"]
    assert sentence in " ".join(capfd.readouterr().out.split())
    until = 180 if manner == "bad-end" else 40
    right = [answer for answer in answers_in(in_process) if answer[2 if answer[0] == 0 else 1] < until]
    kept = [answer for answer in answers_in(tmp_path / "run") if answer[2 if answer[0] == 0 else 1] < until]
    assert kept == right


@pytest.mark.parametrize("way", ["listen", "connect"])
def test_over_tcp(dataset: Dataset, in_process: Path, tmp_path: Path, free_port: int, way: str) -> None:
    with subprocess.Popen(system("good", {"listen": "tcp-connect", "connect": "tcp-listen"}[way], free_port)) as client:
        while way == "connect" and not _listens(free_port):
            time.sleep(0.05)
        record = run(dataset, tmp_path / "run", "--engine", "tcp", f"--{way}", f"127.0.0.1:{free_port}")
        assert record["state"] == "complete" and client.wait(20) == 0
    assert answers_in(tmp_path / "run") == answers_in(in_process)


def _listens(port: int) -> bool:
    """Without connecting, as one connection is all that it takes."""
    return f":{port:04X} " in Path("/proc/net/tcp").read_text()


def test_one_system_connects_and_no_other(
    dataset: Dataset, tmp_path: Path, free_port: int, capfd: pytest.CaptureFixture[str]
) -> None:
    tried = []

    def connect_twice() -> None:
        while not _listens(free_port):
            time.sleep(0.01)
        with socket.create_connection(("127.0.0.1", free_port)) as first:
            tried.append(json.loads(first.makefile().readline())["benchmark"])
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", free_port))
            tried.append("refused")

    thread = threading.Thread(target=connect_twice, daemon=True)
    thread.start()
    words = ["--engine", "tcp", "--listen", str(free_port), "--patience", "20", "--out", str(tmp_path / "run")]
    assert main(["run", str(dataset.path), *words]) == 1
    thread.join(20)
    assert tried == ["Linear Road", "refused"]
    assert 'ended before it said "ready"' in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--engine", "exec"], "engine exec needs --command"),
        (["--engine", "exec", "--command", ""], "--command is empty"),
        (["--engine", "exec", "--command", "'half"], "no closing quotation"),
        (["--engine", "exec", "--command", "./no-such-program"], "there is no program ./no-such-program"),
        (["--engine", "exec", "--command", str(ROOT / "README.md")], "README.md cannot be executed; chmod +x"),
        (["--engine", "exec", "--command", "true"], 'ended before it said "ready" (exit status 0)'),
        (
            ["--engine", "exec", "--command", "true", "--workers", "2"],
            "shares out its work itself: leave out --workers",
        ),
        (["--engine", "exec", "--command", "true", "--durability", "on"], "is its own affair: take --durability off"),
        (
            ["--engine", "exec", "--command", "true", "--patience", "0"],
            "--patience must be a number of seconds above 0",
        ),
        (["--engine", "exec", "--command", "true", "--patience", "nan"], "--patience must be a number of seconds"),
        (["--engine", "exec", "--command", "true", "--marks", "off"], "--marks off needs --clock real"),
        (["--engine", "exec", "--command", "true", "--listen", "9000"], "--listen is an option of --engine tcp"),
        (["--engine", "polling", "--command", "true"], "--command is an option of --engine exec"),
        (["--engine", "tcp"], "engine tcp needs --listen HOST:PORT"),
        (["--engine", "tcp", "--listen", "1", "--connect", "1"], "engine tcp needs --listen HOST:PORT"),
        (["--engine", "tcp", "--listen", "localhost"], "--listen localhost: give HOST:PORT, as in 127.0.0.1:9000"),
        (["--engine", "tcp", "--connect", "127.0.0.1:1"], "cannot connect to 127.0.0.1:1: Connection refused"),
        (["--engine", "tcp", "--listen", "192.0.2.1:9000"], "cannot listen at 192.0.2.1:9000"),
    ],
)
def test_refusals(
    dataset: Dataset, tmp_path: Path, capfd: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    out = tmp_path / "run"
    assert main(["run", str(dataset.path), "--clock", "virtual", "--out", str(out), *words]) == 1
    assert sentence in capfd.readouterr().err
    assert not out.exists()


def test_nobody_connects(dataset: Dataset, tmp_path: Path, free_port: int, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["--engine", "tcp", "--listen", str(free_port), "--patience", "0.3", "--out", str(tmp_path / "run")]
    assert main(["run", str(dataset.path), *words]) == 1
    error = capfd.readouterr().err
    assert f"waiting for a system to connect to 127.0.0.1:{free_port}" in error
    assert f"no system connected to 127.0.0.1:{free_port} within 0.3 s; --patience waits longer" in error


def feed(dataset: Dataset, capfdbinary: pytest.CaptureFixture[bytes], *options: object) -> list[bytes]:
    assert main(["feed", str(dataset.path), *map(str, options)]) == 0
    return capfdbinary.readouterr().out.splitlines()


def test_the_input_for_pipes(dataset: Dataset, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    started = time.monotonic()
    lines = feed(dataset, capfdbinary, "--speed", 40, "--to-minute", 1, "--marks")
    assert time.monotonic() - started >= 59 / 40
    assert [line for line in lines if line.startswith(b"mark")] == [b"mark %d" % second for second in range(60)]
    all_lines = feed(dataset, capfdbinary, "--speed", "max")
    assert main(["export", str(dataset.path), "--out", str(tmp_path / "flat")]) == 0
    files = (tmp_path / "flat").glob("xway-*.csv")
    assert sorted(all_lines) == sorted(line for file in files for line in file.read_bytes().splitlines())
    times = [int(line.split(b",")[1]) for line in all_lines]
    assert times == sorted(times)


@pytest.mark.parametrize("speed", ["0", "-1", "inf", "fast"])
def test_no_such_speed(dataset: Dataset, capfd: pytest.CaptureFixture[str], speed: str) -> None:
    assert main(["feed", str(dataset.path), f"--speed={speed}"]) == 1
    assert f"--speed must be a number above 0, or max, not {speed}" in capfd.readouterr().err


def test_both_clocks_give_the_same_answers(in_process: Path, real_time: tuple[Path, Any]) -> None:
    folder, process = real_time
    out, error = process.communicate(timeout=300)
    record = json.loads((folder / "run.json").read_text())
    assert (process.returncode, record["state"]) == (0, "complete"), error
    first_minute = [answer for answer in answers_in(in_process) if answer[2 if answer[0] == 0 else 1] < 60]
    assert answers_in(folder) == first_minute
    assert record["cycles"]["count"] == 60 and record["covered"] == [0, 59]
    assert "no mark has come back" in error and "exec python foreign_system.py no-echo" in out
