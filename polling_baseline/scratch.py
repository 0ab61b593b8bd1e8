"""A command's private folder in the temporary one, for all that it needs only while it lives.

The command holds a lock on it, which goes with the process and those that inherit it, however they end.  So the next
command knows which of these folders belong to nobody any more, and removes them.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from polling_baseline.refusal import Refusal

PREFIX = "lrb-scratch-"


def scratch(purpose: str) -> Path:
    """A new folder that no other user can read; it vanishes with the command at the latest."""
    try:
        return Path(tempfile.mkdtemp(prefix=f"{purpose}-", dir=_of_this_command()[0]))
    except OSError as error:
        raise Refusal(f"cannot write temporary files: {error.strerror}; set TMPDIR to a folder with room") from None


def scratch_lock() -> int:
    """The descriptor to hand to a program that works in such a folder and may outlive this command for a moment."""
    return _of_this_command()[1]


@cache
def _of_this_command() -> tuple[Path, int]:
    place = Path(tempfile.gettempdir())
    remove_abandoned(place.glob(f"{PREFIX}*"))
    folder, lock = held(lambda: Path(tempfile.mkdtemp(prefix=PREFIX, dir=place)))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder, lock


def held(make: Callable[[], Path]) -> tuple[Path, int]:
    """The file or folder that `make` makes, locked until the descriptor beside it is closed, or the process ends.

    Where a file system has no such locks, nothing is held, and nothing is ever taken for abandoned.
    """
    while True:
        path = make()
        # Before it is held, another command may take it for abandoned.
        with suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDONLY)
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if path.exists():
                return path, descriptor
            os.close(descriptor)


def remove_abandoned(paths: Iterable[Path]) -> None:
    """Remove those of these files and folders that are ours and that no process holds."""
    for path in paths:
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if os.fstat(descriptor).st_uid == os.geteuid():
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            finally:
                os.close(descriptor)
