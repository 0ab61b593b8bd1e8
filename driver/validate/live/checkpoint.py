"""What a judge beside a run keeps in the run's folder, so that the next one goes on from there.

The minutes that are put aside lie there as well.  Of several judges of a run, the first has the folder; the others work
in one of their own, which vanishes with them.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import suppress
from pathlib import Path

from driver.validate.live.tree_file import DAMAGE, Tree, read_tree, write_tree
from polling_baseline.scratch import scratch

FORMAT = 1
FOLDER, STATE = "judge", "state.npz"


class Checkpoint:
    def __init__(self, run: Path) -> None:
        self._lock: int | None = None
        with suppress(OSError):
            (run / FOLDER).mkdir(exist_ok=True)
            lock = os.open(run / FOLDER, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._lock = lock
            except OSError:
                os.close(lock)
        self.folder = scratch("judge") if self._lock is None else run / FOLDER

    def read(self, key: Tree) -> Tree | None:
        """The state that a judge left here when it was asked the same; otherwise what is here goes."""
        with suppress(*DAMAGE):
            tree = read_tree(self.folder / STATE)
            if tree["format"] == FORMAT and tree["key"] == key:
                return tree["state"]
        self._clear(keep=())
        return None

    def write(self, key: Tree, state: Tree, files: list[str]) -> None:
        """Keep a state, which needs these files of the folder; the others are no longer needed."""
        if self._lock is not None:
            write_tree(self.folder / STATE, {"format": FORMAT, "key": key, "state": state})
            self._clear(keep=(STATE, *files))

    def _clear(self, keep: tuple[str, ...]) -> None:
        for path in self.folder.iterdir():
            if path.name not in keep:
                path.unlink(missing_ok=True)

    def close(self, done: bool) -> None:
        """Let go of the folder; there is nothing to go on with when the run is judged."""
        if done or self._lock is None:
            shutil.rmtree(self.folder, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
