"""Files and folders that appear when they are complete: nobody ever sees half of one.

Until then they lie beside it under a name like `.road.partial-0123abcd`, held by their process.  Whoever writes into
the same folder next removes those that a killed process has left there.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from polling_baseline.refusal import Refusal
from polling_baseline.scratch import held, remove_abandoned

LEFT = re.compile(r"\.(?P<name>.+)\.(?P<kind>partial|old)-[0-9a-f]{8}", re.DOTALL)


@contextmanager
def complete_file(path: Path, durable: bool = False) -> Iterator[BinaryIO]:
    """Give a file to write, which takes the name `path` when the block ends well, and vanishes otherwise.

    With `durable`, the file is on the disk then, and so is its name.
    """
    partial, descriptor = held(lambda: _made(path, Path.touch))
    try:
        with partial.open("wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
        os.close(descriptor)
    if durable:
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


@contextmanager
def complete_folder(path: Path) -> Iterator[Path]:
    """Give an empty folder, which takes the name `path` when the block ends well, and vanishes otherwise."""
    with partial_folder(path) as partial:
        yield partial
        old = _beside(path, "old")
        if path.exists():
            path.rename(old)
        partial.rename(path)
        shutil.rmtree(old, ignore_errors=True)


@contextmanager
def partial_folder(path: Path) -> Iterator[Path]:
    """Give an empty folder beside `path`, which vanishes when the block ends unless it has got another name."""
    partial, descriptor = held(lambda: _made(path, Path.mkdir))
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        os.close(descriptor)


def _made(path: Path, make: Callable[[Path], None]) -> Path:
    partial = _beside(path, "partial")
    make(partial)
    return partial


def _beside(path: Path, kind: str) -> Path:
    """A name that is not taken; absolute, as Spark's tasks may have another working folder."""
    path = path.absolute()
    if path.parent.is_dir():
        remove_abandoned(filter(_is_left, path.parent.iterdir()))
    return path.with_name(f".{path.name}.{kind}-{secrets.token_hex(4)}")


def _is_left(path: Path) -> bool:
    """What was to be replaced is kept until what replaces it is there."""
    match = LEFT.fullmatch(path.name)
    return match is not None and (match["kind"] == "partial" or path.with_name(match["name"]).exists())


def refuse_what_is_no_text(path: Path) -> None:
    """Such a name reaches neither Java, nor Parquet's library, nor a database."""
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode("utf-8", "backslashreplace")
        raise Refusal(f"the name {shown} is not text in UTF-8; choose another") from None
