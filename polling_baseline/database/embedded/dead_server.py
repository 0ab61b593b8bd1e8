"""What a server leaves behind that was killed, on Linux.

Its other processes take a moment to notice and end.  Its own one stays in the list of processes until its parent asks
for it, which the first process of a container may never do; PostgreSQL takes it for a server that runs.
"""

from __future__ import annotations

import time
from pathlib import Path

PROCESSES = Path("/proc")
DYING_S = 5.0


def only_a_name(pid: int, data: Path) -> bool:
    """The server with this pid and data folder is dead, but listed; waits for its other processes to end."""
    if not _listed_dead(pid):
        return False
    deadline = time.monotonic() + DYING_S
    while alive := _working_in(data):
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    return not alive


def _listed_dead(pid: int) -> bool:
    try:
        # The name, in brackets, may hold anything; the state follows it.
        return (PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False


def _working_in(folder: Path) -> bool:
    """Every process of a server has its data folder as working folder."""
    for process in PROCESSES.glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == folder:
                return True
        except OSError:
            continue
    return False
