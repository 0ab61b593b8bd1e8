"""The tests of everything that runs in PostgreSQL, on any version: `python -m tests.versions FOLDER ...`.

A folder has initdb, postgres and pg_ctl, as in /usr/lib/postgresql/15/bin.  Without one, every PostgreSQL that lrb
would find on this machine is tested, one after the other.
"""

from __future__ import annotations

import os
import subprocess
import sys

from polling_baseline.database.embedded.binaries import OLDEST_MAJOR, all_binaries
from polling_baseline.database.embedded.server_home import home
from tests.conftest import ROOT

TESTS = (
    "tests/procs",
    "tests/engines/test_polling.py",
    "tests/engines/test_trigger.py",
    "tests/commands/test_claim.py",
    "tests/commands/test_load.py",
)


def main(folders: list[str]) -> int:
    chosen = folders or [str(each.folder) for each in all_binaries(home().owner) if each.major >= OLDEST_MAJOR]
    worst = 0
    for folder in chosen:
        said = subprocess.run([f"{folder}/postgres", "--version"], capture_output=True, text=True)
        print(f"{folder}: {said.stdout.strip()}", flush=True)
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", *TESTS]
        worst |= subprocess.run(command, cwd=ROOT, env={**os.environ, "LRB_PG_BIN": folder}).returncode
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
