"""The folder of a run: Spark's checkpoint, the batches that it reads, what it has answered, and the history.

All of it must outlive the driver for a run to go on, and every worker must see it.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

from polling_baseline.engines.structured_streaming.source import batch_file, read_table
from polling_baseline.files import complete_file
from polling_baseline.project import state_folder
from polling_baseline.refusal import Refusal
from polling_baseline.scratch import held, remove_abandoned

MEMORY = Path("/dev/shm")
PREFIX = "lrb-streaming-"
LABEL = "streaming.json"
FORMAT = 2
# What the smallest run needs, and what each expressway adds at its busiest.
LEAST_BYTES, XWAY_BYTES = 256 << 20, 24 << 20
# Spark may ask for the last batch again, and never for one before.
KEPT_BATCHES = 2


@dataclass(frozen=True, slots=True)
class Label:
    """How the state in a folder was made: a query can go on with it only in the same way."""

    format: int
    # The name of the folder that it was made in.
    folder: str
    spark: str
    shards: int
    pages: int


class RunFolder:
    """One run's folder; `inputs` and `results` hold a file per batch, by number."""

    def __init__(self, path: Path, lock: int | None = None) -> None:
        self.path, self._lock = path, lock
        self.checkpoint, self.history = path / "checkpoint", path / "history"
        self.inputs, self.results = path / "input", path / "result"

    def make(self, label: Label) -> None:
        for folder in (self.inputs, self.results, self.history):
            folder.mkdir()
        with complete_file(self.path / LABEL) as file:
            file.write(json.dumps(asdict(label)).encode())

    def label(self) -> Label:
        """How it was made; refuses what is not such a folder, or one of another version."""
        try:
            text = json.loads((self.path / LABEL).read_text())
            label = Label(**text) if text["format"] == FORMAT else None
        except (OSError, ValueError, KeyError, TypeError):
            raise Refusal(f"{self.path} holds no state of a run; start the run again") from None
        if label is None:
            raise Refusal(f"{self.path} was written by another version of this program; start the run again")
        if label.folder != self.path.name:
            raise Refusal(f"{self.path} holds the state of another run, {label.folder}; start the run again")
        return label

    def write_input(self, number: int, table: pa.Table, durable: bool) -> None:
        _write(batch_file(self.inputs, number), table, durable)
        batch_file(self.inputs, number - KEPT_BATCHES).unlink(missing_ok=True)

    def write_result(self, number: int, table: pa.Table, durable: bool) -> None:
        _write(batch_file(self.results, number), table, durable)
        batch_file(self.results, number - KEPT_BATCHES).unlink(missing_ok=True)

    def last_input(self) -> int | None:
        return max((int(file.stem) for file in self.inputs.glob("*.arrow")), default=None)

    def read_input(self, number: int) -> pa.Table:
        return read_table(batch_file(self.inputs, number))

    def read_result(self, number: int) -> pa.Table | None:
        with suppress(FileNotFoundError):
            return read_table(batch_file(self.results, number))
        return None

    def size(self) -> int:
        total = 0
        for parent, _, names in os.walk(self.path):
            for name in names:
                # Spark removes files all the time.
                with suppress(FileNotFoundError):
                    total += (Path(parent) / name).lstat().st_size
        return total

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def new_folder(given: Path | None, durable: bool, xways: float) -> RunFolder:
    """A folder with room: in the one given, else in the state folder if it is to stay, else in memory."""
    if given is None and not durable:
        parent = MEMORY if os.access(MEMORY, os.W_OK) else Path(tempfile.gettempdir())
        remove_abandoned(parent.glob(f"{PREFIX}*"))
        folder = RunFolder(*held(lambda: Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))))
    else:
        parent = given or state_folder() / "streaming"
        try:
            parent.mkdir(parents=True, exist_ok=True)
            path = parent.absolute() / secrets.token_hex(8)
            path.mkdir()
        except OSError as error:
            raise Refusal(f"cannot write {parent}: {error.strerror}; choose another --checkpoint") from None
        folder = RunFolder(path)
    free, needed = shutil.disk_usage(folder.path).free, LEAST_BYTES + int(xways * XWAY_BYTES)
    if free < needed:
        folder.remove()
        raise Refusal(
            f"the state of this run needs about {needed >> 20:,} MB, and {parent} has {free >> 20:,} MB left; "
            "make room there, or give --checkpoint, a folder with room"
        )
    return folder


def _write(path: Path, table: pa.Table, durable: bool) -> None:
    with complete_file(path, durable) as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
