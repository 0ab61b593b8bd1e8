"""What Spark says of a failure, as one sentence for whoever started the run."""

from __future__ import annotations

import re
from pathlib import Path

MISSING = re.compile(r"No module named '([\w.]+)'")
VERSIONS = re.compile(r"Python in worker has different version: (\S+) than that in driver: (\S+?),")
NO_PYTHON = re.compile(r'Cannot run program "([^"]+)"')
NO_ROOM = ("No space left on device", "Disk quota exceeded")


def is_final(error: str) -> bool:
    """It would fail again."""
    lasting = (MISSING, VERSIONS, NO_PYTHON)
    return any(pattern.search(error) for pattern in lasting) or any(words in error for words in NO_ROOM)


def sentence_of(error: str, folder: Path | str) -> str:
    if any(words in error for words in NO_ROOM):
        return f"{folder} is full; make room there, or give --checkpoint, a folder with room"
    if missing := MISSING.search(error):
        return missing_package(missing[1])
    if versions := VERSIONS.search(error):
        return (
            f"the workers have Python {versions[1]} and this command has {versions[2]}: "
            "set PYSPARK_PYTHON to an interpreter there that has the same version"
        )
    if program := NO_PYTHON.search(error):
        return f"the workers have no {program[1]}: set PYSPARK_PYTHON to a Python that they have"
    lines = [line.strip() for line in error.splitlines() if re.search(r"(Exception|Error)\b.*: ", line)]
    return f"Spark's query failed: {' '.join((lines[-1] if lines else error[:300]).split())}"


def missing_package(name: str) -> str:
    """What to do about a package that workers cannot import."""
    package = name.partition(".")[0]
    if package in ("polling_baseline", "driver"):
        return (
            "the workers do not find this program: install it there, or put it where they see it at the same path "
            "and name that in PYTHONPATH"
        )
    package = "protobuf" if package == "google" else package
    return f"the workers cannot import {name}: install {package} there, or set PYSPARK_PYTHON to an interpreter with it"
