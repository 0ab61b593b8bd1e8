"""A server with standard settings: a run sets what it may, says what it may not, and records what was in force."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from driver.cli import main
from driver.dataset.import_ import ImportOptions, import_dataset
from polling_baseline.database.embedded import server
from polling_baseline.database.embedded.binaries import find_binaries, find_psql
from polling_baseline.database.settings import OFF, ON, after_a_crash
from tests import traces

DRIVER_PASSWORD = "a driver's"
DAMAGE = "; if the machine fails, all data of the server may be damaged"


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("settings") / "road"
    lines = traces.FOLDER / "three_cars" / "input.csv"
    import_dataset(ImportOptions([lines]), folder)
    return folder


@pytest.fixture
def standard(installed: Path, free_port: int) -> tuple[str, Callable[[str], None], Callable[[], None]]:
    """A server with PostgreSQL's own settings and passwords; statements for it, and its restart."""
    running = server.ensure_running(port=free_port)
    password = running.home.password.read_text().strip()
    dsn = f"postgresql://postgres:{password}@127.0.0.1:{free_port}/postgres"

    def psql(statements: str) -> None:
        command = [find_psql(), "-qX", "-v", "ON_ERROR_STOP=1", dsn]
        subprocess.run(command, input=statements, text=True, check=True, stdout=subprocess.DEVNULL)

    def restart() -> None:
        words = ["restart", "-D", running.home.data.name, "-l", running.home.log.name, "-w"]
        done = server._run(running.home, [find_binaries(running.home.owner).folder / "pg_ctl", *words])
        assert done.returncode == 0, done.stdout

    psql("".join(f"ALTER SYSTEM RESET {name};\n" for name in OFF.settings))
    restart()
    return dsn, psql, restart


def facts(run: Path) -> dict:
    return json.loads((run / "run.json").read_text())["environment"]["engine"]


def test_a_server_with_standard_settings(spark, standard, road: Path, tmp_path: Path, capfd, monkeypatch) -> None:
    dsn, psql, restart = standard
    given = ["run", str(road), "--clock", "virtual", "--to-minute", "1", "--dsn", dsn]
    psql("CREATE ROLE lr_owner; CREATE ROLE lr_driver LOGIN; GRANT CREATE ON DATABASE postgres TO lr_owner")

    # The driver's own password is the one that is missing.
    assert main([*given, "--out", str(tmp_path / "none")]) == 1
    said = capfd.readouterr().err
    assert "refused the password of lr_driver" in said and "set LRB_DRIVER_PASSWORD" in said
    assert "PGPASSWORD" not in said
    psql(f"ALTER ROLE lr_driver PASSWORD $${DRIVER_PASSWORD}$$")
    monkeypatch.setenv("LRB_DRIVER_PASSWORD", DRIVER_PASSWORD)

    assert main([*given, "--out", str(tmp_path / "standard")]) == 0
    done = capfd.readouterr()
    # Once per command that a person gives; here both are one process.
    differ = [line for line in (said + done.err).splitlines() if "differ from the profile" in line]
    assert len(differ) == 1 and "settings of 127.0.0.1:" in differ[0] and "lrb db settings" in differ[0]
    assert dsn.split(":")[2].split("@")[0] not in done.err
    # What a session may set is as in the profile, and what it may not is recorded as it was.
    found = facts(tmp_path / "standard")
    own = ("synchronous_commit", "jit", "work_mem", "maintenance_work_mem", "random_page_cost")
    assert {name: found["settings"][name] for name in own} == {name: OFF.settings[name] for name in own}
    assert (found["settings"]["fsync"], found["settings"]["shared_buffers"]) == ("on", "128MB")
    assert (found["tables"], found["after_a_crash"]) == ("unlogged", "the run's tables are empty")
    assert "durability off (but fsync, full_page_writes on)" in done.out
    # With durability the same server is as good as any.
    assert main([*given, "--durability", "on", "--out", str(tmp_path / "durable")]) == 0
    assert facts(tmp_path / "durable")["after_a_crash"] == "everything committed is there"
    capfd.readouterr()

    # The printed statements do what they say.
    assert main(["db", "settings", "--dsn", dsn]) == 0
    printed = capfd.readouterr().out
    assert "ALTER SYSTEM SET shared_buffers = '2GB';" in printed and "-- 128MB now, needs a restart\n" in printed
    assert "ALTER SYSTEM SET work_mem = '64MB';" in printed and "-- 4MB now\n" in printed
    psql(printed)
    restart()
    assert main(["db", "status", "--dsn", dsn]) == 0
    assert "durability off, all as in the profile" in capfd.readouterr().out
    assert main(["db", "settings", "--dsn", dsn]) == 0
    assert "0 settings differ" in capfd.readouterr().out
    assert main([*given, "--out", str(tmp_path / "profile")]) == 0
    assert "differ from the profile" not in capfd.readouterr().err
    assert facts(tmp_path / "profile")["settings"] == OFF.settings

    # Side by side they are told apart.
    words = ["compare", str(tmp_path / "standard"), str(tmp_path / "profile"), "--out", str(tmp_path / "compared")]
    assert main(words) == 0
    rows = {tuple(line.split()) for line in capfd.readouterr().out.splitlines()}
    assert ("setting", "fsync", "on", "off") in rows and ("setting", "shared_buffers", "128MB", "2GB") in rows
    assert not any(row[:2] == ("setting", "work_mem") for row in rows)
    assert main([*words, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["servers_differ_in"]["setting fsync"] == ["on", "off"]
    assert "setting shared_buffers" in (tmp_path / "compared" / "compare.html").read_text()


@pytest.mark.parametrize(
    ("settings", "logged", "left"),
    [
        (ON.settings, True, "everything committed is there"),
        (ON.settings, False, "the run's tables are empty"),
        (ON.settings | {"synchronous_commit": "off"}, True, "what was committed last may be missing"),
        (OFF.settings, False, "the run's tables are empty" + DAMAGE),
    ],
)
def test_what_a_crash_leaves(settings, logged, left):
    assert after_a_crash(settings, logged) == left
