"""The database of a run: SQLite as Python brings it, in memory, without a log."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain

from polling_baseline.batch import Columns
from polling_baseline.engine import EngineFailure
from polling_baseline.engines.sqlite.exact import add_functions
from polling_baseline.refusal import Refusal

# The first with INSERT ... ON CONFLICT DO UPDATE; nothing here needs a newer one.
LEAST_VERSION = (3, 24, 0)
IN_MEMORY = ":memory:"
# Nobody resumes from memory: nothing is logged, and a cycle that fails ends the run.  Some builds overwrite with zeros
# whatever is deleted, unless told not to.
PRAGMAS = {
    "page_size": 16_384,
    "journal_mode": "OFF",
    "synchronous": "OFF",
    "secure_delete": "OFF",
    "cache_size": -65_536,
}
# More than there are: a statement for each table of the ring is one of its own.
STATEMENTS = 2000
# A history has millions of rows, and a row of objects takes ten times the memory of its columns.
ROWS_AT_ONCE = 100_000


def open_database() -> sqlite3.Connection:
    """A connection to the empty databases `lr` and `lr_history`; transactions begin and end when told to."""
    _check_version()
    # The thread that hands over batches is not always that of the install; one at a time uses the connection.
    connection = sqlite3.connect(IN_MEMORY, isolation_level=None, check_same_thread=False, cached_statements=STATEMENTS)
    connection.execute("PRAGMA temp_store = MEMORY")
    for schema in ("lr", "lr_history"):
        connection.execute(f"ATTACH '{IN_MEMORY}' AS {schema}")
        for name, value in PRAGMAS.items():
            connection.execute(f"PRAGMA {schema}.{name} = {value}")
    add_functions(connection)
    return connection


def _check_version() -> None:
    if sqlite3.sqlite_version_info < LEAST_VERSION:
        least = ".".join(map(str, LEAST_VERSION))
        raise Refusal(
            f"engine sqlite needs SQLite {least} or newer, and this Python has {sqlite3.sqlite_version}; "
            "take a newer Python, or another --engine"
        )


def insert_columns(connection: sqlite3.Connection, table: str, columns: Columns) -> None:
    """Add rows to a table; the library takes them as objects of Python, one by one."""
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    rows = max(map(len, columns.values()))
    parts = (
        zip(*[column[start : start + ROWS_AT_ONCE].tolist() for column in columns.values()], strict=True)
        for start in range(0, rows, ROWS_AT_ONCE)
    )
    connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", chain.from_iterable(parts))


@contextmanager
def failures() -> Iterator[None]:
    """What SQLite cannot do ends the run, with a sentence."""
    try:
        yield
    except sqlite3.Error as error:
        raise EngineFailure(f"SQLite {sqlite3.sqlite_version}: {error}") from error
