"""The database of a run: in memory, or a file with its write-ahead log that outlives the process.

The history is in a second one beside it, always in memory: it can be read again.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from polling_baseline.engine import EngineFailure
from polling_baseline.project import state_folder
from polling_baseline.refusal import Refusal

IN_MEMORY = ":memory:"
NEVER = "1000TB"
# A join with so many rows on one side looks them up in the other side's index.
LOOK_UPS = 5000


def new_file() -> Path:
    """A name for the file of a run, in a folder that is there."""
    folder = state_folder() / "duckdb"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{secrets.token_hex(8)}.duckdb"


def open_database(file: Path | None, threads: int) -> duckdb.DuckDBPyConnection:
    """A connection to the file, which is made if need be, or to a database in memory."""
    # Nothing is ever moved out of memory to temporary files: a cycle that waits for them is late.
    connection = duckdb.connect(
        file or IN_MEMORY, config={"threads": threads, "temp_directory": "", "preserve_insertion_order": False}
    )
    if file is None:
        # There is no log to fold in: a checkpoint would only hold up a cycle, every few seconds under load.
        connection.execute(f"SET checkpoint_threshold = '{NEVER}'")
    _set_look_ups(connection, LOOK_UPS)
    connection.execute(f"ATTACH '{IN_MEMORY}' AS lr_history")
    return connection


@contextmanager
def look_ups(connection: duckdb.DuckDBPyConnection, rows: int) -> Iterator[None]:
    """Within, so many rows are looked up, if that is more than usual."""
    if rows <= LOOK_UPS:
        yield
        return
    _set_look_ups(connection, rows)
    yield
    _set_look_ups(connection, LOOK_UPS)


def _set_look_ups(connection: duckdb.DuckDBPyConnection, rows: int) -> None:
    connection.execute(f"SET dynamic_or_filter_threshold = {rows}")


def existing_file(file: str) -> Path:
    if not Path(file).is_file():
        raise Refusal(f"the state of this run is gone: there is no {file}; start the run again")
    return Path(file)


def remove_file(file: Path) -> None:
    for path in files_of(file):
        path.unlink(missing_ok=True)


def size_of(file: Path) -> int:
    return sum(path.stat().st_size for path in files_of(file) if path.exists())


def files_of(file: Path) -> tuple[Path, Path]:
    """The database, and its log."""
    return file, file.with_name(f"{file.name}.wal")


@contextmanager
def failures_of(file: Path | None) -> Iterator[None]:
    """What DuckDB cannot do ends the run, with a sentence."""
    try:
        yield
    except duckdb.Error as error:
        raise EngineFailure(_reason(str(error), file)) from error


def _reason(text: str, file: Path | None) -> str:
    if match := re.search(r"Conflicting lock is held.*?PID (\d+)", text):
        return f"{file} is in use by process {match[1]}; wait until it has ended"
    if "version number" in text:
        return f"{file} was written by another version than DuckDB {duckdb.__version__}; take that one, or start again"
    if "Corrupt database file" in text or "not a valid DuckDB database" in text:
        return f"{file} is damaged; start the run again"
    if "No space left" in text or "File too large" in text:
        return f"the disk of {file} is full; make room, then go on with --resume"
    return f"DuckDB {duckdb.__version__}: {' '.join(text.split())}"
