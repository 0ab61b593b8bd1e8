"""`lrb run` as a user types it: answers, files, clocks, and how it ends."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from driver.cli import main
from driver.dataset.import_ import ImportOptions, import_dataset
from polling_baseline.database.embedded.server import Server, ensure_running
from tests import traces
from tests.conftest import Lrb, lrb_command, lrb_options, refused
from tests.support.files_page import check_csv, check_json
from tests.support.samples import SAMPLE, needs_sample

# The part of the road that is run on both clocks.
PART = ("--from-minute", 2, "--to-minute", 2, "--workers", 2)


@pytest.fixture(scope="session")
def road(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of two expressways with accidents, tolls and requests, and no history."""
    folder = tmp_path_factory.mktemp("run") / "road"
    files = [traces.FOLDER / name / "input.csv" for name in ("balance_of_several_xways",)]
    import_dataset(ImportOptions(files), folder)
    return folder


def answers(run: Path) -> Counter[tuple[int, ...]]:
    with (run / "output.csv").open() as lines:
        return Counter(traces.without_emit(row) for row in csv.reader(lines))


def facts(run: Path) -> dict:
    return json.loads((run / "run.json").read_text())


@pytest.fixture
def run(lrb: Lrb, server: Server, road: Path, tmp_path: Path) -> Iterator:
    """`run("--period", 2)`: the folder of a complete run."""
    numbers = iter(range(100))

    def start(*options: object) -> Path:
        folder = tmp_path / f"run-{next(numbers)}"
        done = lrb("run", road, "--clock", "virtual", "--out", folder, *options)
        assert done.returncode == 0, done.stderr
        return folder

    return start


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("real clock") / "run"


@pytest.fixture(scope="module", autouse=True)
def real_clock_run(server: Server, road: Path, real: Path) -> Iterator[subprocess.Popen[str]]:
    """Goes on beside the other tests of this file, in a database of its own."""
    command = lrb_command("run", road, "--clock", "real", "--database", "real_clock", "--out", real, *PART)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=lrb_options({})["env"], text=True, **pipes) as process:
        yield process
        process.kill()


def test_the_answers_are_right_whatever_the_workers_and_the_period(run) -> None:
    right = Counter(traces.load("balance_of_several_xways").expected)
    for options in (["--workers", 1], ["--workers", 2, "--period", 2], ["--workers", 2, "--period", 4]):
        assert answers(run(*options)) == right, options


def test_triggers_with_durability(lrb: Lrb, installed: Path, road: Path, tmp_path: Path) -> None:
    right = Counter(traces.load("balance_of_several_xways").expected)
    for granularity in ("row", "statement"):
        options = ("--durability", "on", "--engine", "trigger", "--granularity", granularity, "--period", 4)
        folder = tmp_path / granularity
        done = lrb("run", road, "--clock", "virtual", "--out", folder, *options)
        assert done.returncode == 0, done.stderr
        assert answers(folder) == right
        check_json(folder / "run.json")
        check_csv(folder / "cycles.csv")
        found = facts(folder)
        assert found["config"]["engine_options"] == {"granularity": granularity}
        engine = found["environment"]["engine"]
        chosen = [engine["settings"][name] for name in ("fsync", "synchronous_commit", "full_page_writes")]
        assert (chosen, engine["durability"]) == (["on"] * 3, "on")
        assert engine["wal_bytes"] > 100_000
        assert engine["dead_rows"] > 0
        assert f"trigger {granularity}" in done.stdout
        assert "bytes per tuple" in done.stdout
    with closing(ensure_running().target.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relnamespace = 'lr'::regnamespace AND relpersistence = 'u'")
        assert cursor.fetchall() == []


def test_designs(server: Server, road: Path, tmp_path: Path, capsys) -> None:
    def start(*words: object) -> None:
        assert main(["run", *map(str, words)]) == 0, capsys.readouterr().err

    first = tmp_path / "first"
    start(road, "--clock", "virtual", "--out", first, "--design", "2004", "--indexes", "off", "--period", 4)
    assert answers(first) == Counter(traces.load("balance_of_several_xways").expected)
    check_json(first / "run.json")
    check_csv(first / "cycles.csv")
    options = {"design": "2004", "indexes": "off", "keep": "run"}
    assert (facts(first)["config"]["engine_options"], facts(first)["config"]["workers"]) == (options, 1)
    # The same again, the same with another option, and another design, which has none of these options.
    for words, others in (
        ((), options),
        (("--indexes", "on"), {**options, "indexes": "on"}),
        (("--design", "merge"), {"design": "merge"}),
    ):
        folder = tmp_path / f"like {len(words)} {words[-1:]}"
        start("--like", first, "--out", folder, *words)
        assert facts(folder)["config"]["engine_options"] == others
        assert answers(folder) == answers(first)
    assert "polling, design merge" in capsys.readouterr().out


def test_what_a_run_leaves(run) -> None:
    folder = run()
    found = facts(folder)
    assert found["state"] == "complete"
    assert found["format"] == 1
    assert found["answers"]["toll"]["received"] == sum(answer[0] == 0 for answer in answers(folder))
    assert found["answers"]["toll"]["late"] == 0
    assert found["environment"]["engine"]["settings"]["fsync"] == "off"
    with (folder / "cycles.csv").open() as lines:
        cycles = list(csv.DictReader(lines))
    assert [int(cycle["first_second"]) for cycle in cycles] == list(range(len(cycles)))
    assert {"due", "started", "committed", "backlog_s", "copy_ms", "advance_ms", "commit_ms"} <= set(cycles[0])
    assert sum(int(cycle["rows"]) for cycle in cycles) == found["feed"]["rows"]
    assert "not yet judged: lrb validate" in (folder / "report.html").read_text()


def test_like_repeats_a_run(run, lrb: Lrb, tmp_path: Path) -> None:
    first = run("--period", 2, "--to-minute", 1)
    again = tmp_path / "again"
    assert lrb("run", "--like", first, "--out", again).returncode == 0
    assert facts(again)["config"] == facts(first)["config"]
    assert answers(again) == answers(first)


def test_the_default_folder_is_numbered(lrb: Lrb, server: Server, road: Path, tmp_path: Path) -> None:
    for name in ("0001-polling-L2.5", "0002-polling-L2.5"):
        done = lrb("run", road, "--clock", "virtual", "--to-minute", 1, cwd=tmp_path)
        assert f"saved  runs/{name}" in done.stdout
        assert (tmp_path / "runs" / name / "output.csv").exists()


def begun(road: Path, folder: Path) -> subprocess.Popen[str]:
    """A run on the real clock that has done its first cycles."""
    options = {**lrb_options({}), "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    del options["capture_output"], options["timeout"]
    process = subprocess.Popen(lrb_command("run", road, "--out", folder), **options)
    cycles = folder / "cycles.csv"
    deadline = time.monotonic() + 180
    while not (folder / "run.json").exists() or facts(folder)["state"] != "running":
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.1)
    time.sleep(2.5)
    assert cycles.exists()
    return process


def test_an_interrupted_run_keeps_what_was_measured(server: Server, road: Path, tmp_path: Path) -> None:
    process = begun(road, tmp_path / "run")
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=180)
    assert process.returncode == 2, stderr
    found = facts(tmp_path / "run")
    assert found["state"] == "interrupted"
    assert found["cycles"]["count"] >= 1
    assert "interrupted" in stdout
    assert "Traceback" not in stderr


def test_a_worker_that_dies_ends_the_run_with_a_reason(server: Server, road: Path, tmp_path: Path) -> None:
    process = begun(road, tmp_path / "run")
    # The server that the command finds.
    connection = ensure_running().target.connect()
    with connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid, application_name, pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        killed = cursor.fetchall()
    connection.close()
    assert killed
    stdout, stderr = process.communicate(timeout=180)
    assert process.returncode == 2, (killed, stderr)
    found = facts(tmp_path / "run")
    assert found["state"] == "broken"
    assert "terminat" in found["reason"] or "lost" in found["reason"]
    assert found["reason"] in stdout
    assert "Traceback" not in stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        pytest.param(["--dsn", "host=127.0.0.1 port=1"], "cannot reach PostgreSQL at 127.0.0.1:1", id="no-server"),
        pytest.param(["--from-minute", "9000"], "it has 1 to", id="no-such-minute"),
        pytest.param(["--period", "0"], "must be 0.1 to 29 seconds, not 0", id="no-period"),
        pytest.param(["--period", "30"], "must be 0.1 to 29 seconds, not 30", id="period-too-long"),
        pytest.param(["--workers", "0"], "1 to 64", id="no-worker"),
        pytest.param(["--out", "."], "exists", id="existing-folder"),
        pytest.param(["--granularity", "row"], "option of --engine trigger", id="polling-has-no-granularity"),
        pytest.param(["--design", "1999"], "'2004', 'cursor', 'subquery', 'merge', 'ring'", id="no-such-design"),
        pytest.param(
            ["--indexes", "off"],
            "design ring has no option --indexes; leave it out, or take a design that has: 2004, cursor, subquery",
            id="the-ring-has-no-indexes",
        ),
        pytest.param(
            ["--design", "merge", "--keep", "run"], "design merge has no option --keep", id="merge-keeps-a-minute"
        ),
        pytest.param(["--engine", "trigger", "--design", "ring"], "option of --engine polling", id="trigger-design"),
        pytest.param(
            ["--design", "2004", "--workers", "2"],
            "design 2004 runs on one connection: leave out --workers, or take --design ring",
            id="2004-of-two",
        ),
        pytest.param(["--engine", "trigger", "--workers", "2"], "runs on one connection", id="row-trigger-of-two"),
    ],
)
def test_refusals(lrb: Lrb, server: Server, road: Path, options: list[str], sentence: str) -> None:
    done = lrb("run", road, *options)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_that_forgets_is_no_durable_one(lrb: Lrb, server: Server, road: Path) -> None:
    dsn = " ".join(f"{key}='{value}'" for key, value in server.target.parameters.items())
    done = lrb("run", road, "--durability", "on", "--dsn", dsn)
    assert "fsync, full_page_writes off" in refused(done)


def test_a_run_needs_a_data_set(lrb: Lrb, server: Server, tmp_path: Path) -> None:
    assert "is not a data set" in refused(lrb("run", tmp_path))
    assert "name a data set" in refused(lrb("run"))
    assert "is not a run" in refused(lrb("run", "--like", tmp_path))


def test_a_user_without_rights(lrb: Lrb, server: Server, road: Path) -> None:
    connection = server.target.connect()
    with connection, connection.cursor() as cursor:
        cursor.execute("DROP ROLE IF EXISTS visitor")
        cursor.execute("CREATE ROLE visitor LOGIN")
    connection.close()
    parameters = {**server.target.parameters, "user": "visitor"}
    done = lrb("run", road, "--dsn", " ".join(f"{key}='{value}'" for key, value in parameters.items()))
    assert "user visitor cannot use database postgres" in refused(done)


@needs_sample
def test_the_real_sample_is_answered_completely(lrb: Lrb, server: Server, tmp_path: Path) -> None:
    import_dataset(ImportOptions([SAMPLE]), tmp_path / "real")
    done = lrb("run", tmp_path / "real", "--clock", "virtual", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    counts = json.loads((tmp_path / "real" / "dataset.json").read_text())["counts"]
    found = facts(tmp_path / "run")["answers"]
    for kind in ("balance", "expenditure", "travel_time"):
        assert found[kind]["received"] == counts[kind]
    assert found["toll"]["received"] > 4000


def test_both_clocks_give_the_same_answers(run, real_clock_run: subprocess.Popen[str], real: Path) -> None:
    """Here at the end of the file, as the run on the real clock takes its minute."""
    _, complaints = real_clock_run.communicate(timeout=600)
    assert real_clock_run.returncode == 0, complaints
    virtual = run(*PART)
    assert answers(real) == answers(virtual)
    assert (facts(real)["config"]["clock"], facts(virtual)["config"]["clock"]) == ("real", "virtual")
    # The clock of a part starts with its first second, and no answer comes before its question.
    with (real / "output.csv").open() as lines:
        emits = {int(row[0]): float(row[traces.EMIT[int(row[0])]]) for row in csv.reader(lines)}
    assert all(60 <= emit < 130 for emit in emits.values())
