"""Where the embedded server lives, and which user runs it.

The folder is `.lrb/postgresql` of the project's checkout, or else lies in the user's state folder; LRB_STATE names
another.  PostgreSQL does not run as root, so for root the server runs as another user; if that user cannot reach
the folder (a checkout below a private home), the server lives in /var/lib/linear-road instead.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pwd
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polling_baseline.project import state_folder
from polling_baseline.refusal import Refusal

ROOT_FOLDER = Path("/var/lib/linear-road")
ROOT_SERVES_AS = ("postgres", "nobody")
# sun_path has 104 bytes on macOS, 108 on Linux; the longest name in the folder is .s.PGSQL.65535.lock.
SOCKET_FOLDER_BYTES = 104 - len("/.s.PGSQL.65535.lock") - 1


@dataclass(frozen=True, slots=True)
class Owner:
    """The user that runs the server when we are root."""

    uid: int
    gid: int

    @property
    def name(self) -> str:
        return _user_name(self.uid) or str(self.uid)

    @property
    def subprocess_options(self) -> dict[str, Any]:
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


@dataclass(frozen=True, slots=True)
class ServerHome:
    """The embedded server's folder; `owner` is None if we run the server ourselves."""

    folder: Path
    owner: Owner | None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    @property
    def password(self) -> Path:
        """Of user postgres, for the loopback port; the socket asks for none."""
        return self.folder / "password"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """One process at a time starts, stops or inspects the server."""
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def give(self, path: Path, mode: int) -> None:
        """Hand what we have just made to the server's user."""
        path.chmod(mode)
        if self.owner:
            os.chown(path, self.owner.uid, self.owner.gid, follow_symlinks=False)

    def socket_folder(self) -> Path:
        """The folder itself, or a private one with a short name where its path is too long for a socket."""
        if len(os.fsencode(self.folder)) <= SOCKET_FOLDER_BYTES:
            return self.folder
        short = Path(tempfile.gettempdir()) / f"lrb-{_digest(self.folder)}"
        uid = self.owner.uid if self.owner else os.geteuid()
        if not os.path.lexists(short):
            short.mkdir(mode=0o700)
            self.give(short, 0o700)
        status = short.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != uid or status.st_mode & 0o077:
            raise Refusal(f"{short} was not made by this program; remove it, or set LRB_STATE to a shorter path")
        return short


def home() -> ServerHome:
    """Make the folder if need be, and say who runs the server in it."""
    folder = state_folder() / "postgresql"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            return _home_for_root(folder)
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.stat().st_uid != os.geteuid():
            raise Refusal(f"{folder} belongs to another user; set LRB_STATE to a folder of your own")
    except OSError as error:
        raise cannot_write(folder, error) from None
    return ServerHome(folder, None)


def cannot_write(folder: Path, error: OSError) -> Refusal:
    return Refusal(f"cannot write to {folder}: {error.strerror}; set LRB_STATE to a folder with room that is yours")


def ours_as_root() -> Path:
    """A folder of root's that every user can reach."""
    try:
        ROOT_FOLDER.mkdir(parents=True, exist_ok=True)
        ROOT_FOLDER.chmod(0o755)
    except OSError as error:
        raise cannot_write(ROOT_FOLDER, error) from None
    return ROOT_FOLDER


def _home_for_root(folder: Path) -> ServerHome:
    if folder.exists() and (made_by := folder.stat()).st_uid != 0:
        owner = Owner(made_by.st_uid, made_by.st_gid)
    else:
        owner = _default_owner()
    if not _can_reach(owner, folder.parent):
        folder = ours_as_root() / f"server-{_digest(folder)}"
        owner = _default_owner()
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid == 0:
        os.chown(folder, owner.uid, owner.gid, follow_symlinks=False)
    return ServerHome(folder, owner)


def _default_owner() -> Owner:
    for name in ROOT_SERVES_AS:
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return Owner(user.pw_uid, user.pw_gid)
    raise Refusal("PostgreSQL does not run as root, and there is no user postgres or nobody; run lrb as another user")


def _can_reach(owner: Owner, folder: Path) -> bool:
    statuses = [path.stat() for path in (folder, *folder.parents)]
    return all(status.st_mode & stat.S_IXOTH or status.st_uid == owner.uid for status in statuses)


def _user_name(uid: int) -> str | None:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def _digest(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
