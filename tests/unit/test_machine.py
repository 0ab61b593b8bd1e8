"""The machine in a run's record: what the system tells, and a warning if something else was running."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from driver.cli import main
from driver.cli.rate import text as rating_text
from driver.report.html.run import run_page
from driver.report.text import run_text
from driver.run import machine
from driver.run.record import open_run, write_run
from tests.support.made_rating import CANDIDATE, RATING
from tests.support.made_run import make_run

BUSY = {"cores": 4, "memory_gb": 8.0, "system": "Linux x86_64", "others_cores": 1.26}
SENTENCE = "something else was running at the start: it kept 1.3 of 4 cores busy"
CPUINFO = "processor\t: 0\nmodel name\t: Some  CPU @ 3GHz\ncpu MHz\t\t: 1200.4\n\nprocessor\t: 1\ncpu MHz\t\t: 2999.6\n"


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of the test's own: /proc and /sys are folders here."""
    for name in ("proc", "sys"):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(machine, name.upper(), tmp_path / name)
    return tmp_path


def test_this_machine_is_described() -> None:
    told = machine.describe_machine()
    assert told["kernel"] and told["load"] >= 0 and told["cores"] > 0
    if sys.platform == "linux":
        assert told["disk"]


def test_what_the_system_tells(system: Path) -> None:
    (system / "proc" / "cpuinfo").write_text(CPUINFO)
    told = machine.describe_machine()
    assert (told["cpu"], told["mhz"]) == ("Some CPU @ 3GHz", 3000)
    assert "disk" not in told
    assert machine.machine_words(told)[0] == "Some CPU @ 3GHz at 3,000 MHz"
    assert machine.cores_used_by_others() is None


def test_the_disk_below_a_partition(system: Path) -> None:
    (system / "proc" / "self").mkdir()
    home = system / "with space"
    place = str(home).replace(" ", "\\040")
    mounts = [("/", "9:9", "tmpfs"), (place, "8:1", "xfs"), (f"{place}r", "7:7", "ext3")]
    lines = [f"1 2 {device} / {mount} rw shared:1 - {kind} source rw\n" for mount, device, kind in mounts]
    (system / "proc" / "self" / "mountinfo").write_text("".join(lines))
    assert machine.disk_of(home / "lrb") == "xfs"
    disk = system / "sys" / "sda"
    for path, content in (("device/model", "Fast  SSD \n"), ("queue/rotational", "0\n"), ("sda1/partition", "1\n")):
        (disk / path).parent.mkdir(parents=True, exist_ok=True)
        (disk / path).write_text(content)
    (system / "sys" / "dev" / "block").mkdir(parents=True)
    (system / "sys" / "dev" / "block" / "8:1").symlink_to(disk / "sda1")
    assert machine.disk_of(home / "lrb") == "xfs, Fast SSD, not rotating"
    (disk / "device" / "model").unlink()
    assert machine.disk_of(home) == "xfs, sda"
    assert machine.disk_of(system) == "tmpfs"


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_another_program_is_seen() -> None:
    """It cannot be told from what else this machine does, so one more is only a lower bound."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            used = [machine.cores_used_by_others(0.3) or 0.0 for _ in range(3)]
        finally:
            busy.kill()
    assert max(used) > 0.3


def test_it_is_in_every_report(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", 1)
    record = json.loads((run / "run.json").read_text())
    record["environment"]["machine"] = BUSY
    write_run(run, record)
    assert SENTENCE.capitalize() in " ".join(run_text(open_run(run)).split())
    assert SENTENCE.capitalize() in run_page([open_run(run)])
    other = make_run(tmp_path / "other", 1)
    assert f"run: {SENTENCE}" in run_page([open_run(run), open_run(other)])
    assert main(["report", str(run)]) == 0


def test_a_quiet_start_gives_no_warning(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", 1)
    assert "something else" not in run_text(open_run(run)).lower()
    assert machine.warning({**BUSY, "others_cores": 0.4}) is None  # type: ignore[typeddict-item]
    assert machine.warning({"cores": 1, "memory_gb": 1.0, "system": "a run of an earlier version"}) is None


def test_a_rating_counts_such_runs() -> None:
    busy = {**RATING, "candidates": [CANDIDATE, {**CANDIDATE, "others_cores": 0.7}, {**CANDIDATE, "others_cores": 0.1}]}
    text = " ".join(" ".join(rating_text(busy, Path("r"))).split())  # type: ignore[arg-type]
    assert "Something else was running when 1 of 3 runs began: it kept up to 0.7 cores busy" in text
    assert "Something else" not in " ".join(rating_text(RATING, Path("r")))  # type: ignore[arg-type]
