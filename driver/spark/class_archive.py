"""Spark's classes as Java keeps them in memory, in a file: with it, Java starts in half the time.

The first command that uses Spark makes it when it ends; Java itself sees to it that an archive of other classes is not
used.  A Java without an archive of its own classes, as the one of the Python package, cannot make any.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path

from polling_baseline.files import complete_file
from polling_baseline.project import state_folder
from polling_baseline.refusal import Refusal

# Those of the last few pairs of a Java and a Spark are kept, each of some 150 MB.
NAME, MOST = "spark-{}.jsa", 2
# In the folder that Java works in.
ARCHIVE, NEW_ARCHIVE = "classes.jsa", "new-classes.jsa"


def archive_option(java_home: Path, spark_home: Path, folder: Path) -> str:
    """The option for a Java that works in this folder: take the archive that is there, or make one; or none."""
    path = _archive_path(java_home, spark_home)
    if path is None:
        return ""
    if path.exists():
        (folder / ARCHIVE).symlink_to(path)
        return f"-XX:SharedArchiveFile={ARCHIVE}"
    return f"-XX:ArchiveClassesAtExit={NEW_ARCHIVE}"


def keep_archive(java_home: Path, spark_home: Path, folder: Path) -> None:
    """Keep the archive that a Java has made at its end, for later commands."""
    path = _archive_path(java_home, spark_home)
    if path and (folder / NEW_ARCHIVE).exists():
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with (folder / NEW_ARCHIVE).open("rb") as made, complete_file(path, durable=True) as kept:
                shutil.copyfileobj(made, kept)
            for old in sorted(path.parent.glob(NAME.format("*")), key=lambda file: file.stat().st_mtime)[:-MOST]:
                old.unlink()


def _archive_path(java_home: Path, spark_home: Path) -> Path | None:
    """Where the archive for this Java and this Spark is, or would be."""
    own = java_home / "lib" / "server" / "classes.jsa"
    jars = spark_home / "jars"
    try:
        marks = (own.resolve(), own.stat().st_mtime_ns, jars.resolve(), jars.stat().st_mtime_ns)
        beside = Path(__file__).with_name("__pycache__")
        folder = beside if os.access(beside, os.W_OK) else state_folder() / "compiled"
    except (OSError, Refusal):
        return None
    return folder / NAME.format(hashlib.sha256(repr(marks).encode()).hexdigest()[:16])
