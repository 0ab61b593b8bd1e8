"""Files and folders that appear when they are complete; and what killed processes leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from polling_baseline.files import complete_file, complete_folder
from polling_baseline.scratch import PREFIX, held, remove_abandoned

# Holds what it makes, says so, and waits to be killed.
MAKER = """
import sys, time
from pathlib import Path
from polling_baseline.files import complete_file, complete_folder
from polling_baseline.scratch import scratch

folder = Path(sys.argv[1])
with complete_folder(folder / "road") as road, complete_file(folder / "page.html") as page:
    print(scratch("a").parent, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def maker(tmp_path):
    """A process at work in `tmp_path`, and its scratch folder."""
    command = [sys.executable, "-c", MAKER, str(tmp_path)]
    with subprocess.Popen(
        command, env={**os.environ, "TMPDIR": str(tmp_path)}, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process, process.stdout.readline().strip()
        process.kill()


def left_in(folder):
    return sorted(path.name.rpartition("-")[0] for path in folder.iterdir() if path.name.startswith((".", PREFIX)))


def test_what_a_killed_process_leaves_is_removed_by_the_next(tmp_path, maker):
    process, scratch_folder = maker
    at_work = [".page.html.partial", ".road.partial", PREFIX.removesuffix("-")]
    assert left_in(tmp_path) == at_work
    assert Path(scratch_folder).stat().st_mode & 0o777 == 0o700
    with complete_file(tmp_path / "other"):
        pass
    remove_abandoned(tmp_path.glob(f"{PREFIX}*"))
    assert left_in(tmp_path) == at_work
    process.send_signal(signal.SIGKILL)
    process.wait()
    with complete_file(tmp_path / "other"):
        pass
    remove_abandoned(tmp_path.glob(f"{PREFIX}*"))
    assert left_in(tmp_path) == []


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "file"
    for text in (b"one", b"two"):
        with complete_file(path) as file:
            file.write(text)
            assert not path.exists() or path.read_bytes() == b"one"
        assert path.read_bytes() == text
    with pytest.raises(ZeroDivisionError), complete_file(path) as file:
        file.write(b"three")
        raise ZeroDivisionError
    assert (path.read_bytes(), [each.name for each in tmp_path.iterdir()]) == (b"two", ["file"])


def test_a_folder_replaces_another_when_it_is_complete(tmp_path):
    path = tmp_path / "road"
    for name in ("one", "two"):
        with complete_folder(path) as folder:
            (folder / name).touch()
        assert [each.name for each in path.iterdir()] == [name]
    with pytest.raises(ZeroDivisionError), complete_folder(path):
        raise ZeroDivisionError
    assert [each.name for each in tmp_path.rglob("*")] == ["road", "two"]


def test_what_was_replaced_is_kept_while_nothing_is_in_its_place(tmp_path):
    """Killed between two renamings: the only copy is not removed."""
    old = tmp_path / ".road.old-0123abcd"
    old.mkdir()
    with complete_file(tmp_path / "other"):
        pass
    assert old.exists()
    with complete_folder(tmp_path / "road"):
        pass
    with complete_file(tmp_path / "other"):
        pass
    assert not old.exists()


def test_files_of_others_are_left_alone(tmp_path):
    names = [".a.partial-1", "a.partial-0123abcd", ".a.partial-0123ABCD", ".partial-0123abcd"]
    for name in names:
        (tmp_path / name).touch()
    with complete_file(tmp_path / "other"):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {"other", *names}


def test_nothing_is_removed_while_it_is_made(tmp_path):
    """Many make and hold, others remove what is abandoned: who has made something keeps it."""
    stop = threading.Event()

    def sweep():
        while not stop.is_set():
            remove_abandoned(tmp_path.iterdir())

    sweeper = threading.Thread(target=sweep)
    sweeper.start()
    try:
        for number in range(300):

            def make(number=number):
                path = tmp_path / str(number)
                path.mkdir(exist_ok=True)
                return path

            path, descriptor = held(make)
            assert path.exists()
            os.close(descriptor)
    finally:
        stop.set()
        sweeper.join()
