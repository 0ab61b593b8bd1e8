"""The engine `duckdb`: System X on a column store, in this process.

The steps of a cycle are statements in `sql/duckdb`.  With durability, the database is a file: after a crash its ledger
tells the last cycle, whose answers follow from what is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import duckdb

from polling_baseline.batch import Answers, Batch
from polling_baseline.engines.duckdb.database import (
    existing_file,
    failures_of,
    new_file,
    open_database,
    remove_file,
    size_of,
)
from polling_baseline.engines.duckdb.session import STEPS, Session


class DuckDB:
    """One DuckDB with some threads; the history comes from these Parquet files."""

    name = "duckdb"
    # Threads share the work of each statement: no batch is shared out before.
    workers = 1

    def __init__(
        self, tolls: Sequence[Path], segments: Sequence[Path], threads: int = 1, durable: bool = False
    ) -> None:
        self._history = tolls, segments
        self._threads, self._durable = threads, durable
        self._file: Path | None = None
        self._session: Session | None = None

    def install(self) -> None:
        self._file = new_file() if self._durable else None
        with failures_of(self._file):
            session = self._open()
            session.create_tables()
            session.read_history(*self._history)
            session.warm_up()

    def resume(self, engine_facts: Mapping[str, object]) -> range | None:
        self._file = existing_file(str(engine_facts["database"]))
        with failures_of(self._file):
            session = self._open()
            session.read_ledger()
            session.read_history(*self._history)
            session.warm_up()
        return session.last or None

    def process(self, batch: Batch) -> Mapping[str, float]:
        with failures_of(self._file):
            return self._opened.process(batch)

    def complete(self, batch: Batch) -> Mapping[str, float]:
        """A cycle is committed as a whole: of the last one, only answers that were not stored are to be found again."""
        with failures_of(self._file):
            self._opened.answer_again(batch)
        return dict.fromkeys(STEPS, 0.0)

    def answers(self) -> Iterator[Answers]:
        with failures_of(self._file):
            yield from self._opened.answers()

    def stop(self) -> None:
        if self._session:
            self._session.close()
            self._session = None

    def discard(self) -> None:
        """The run is complete, and nobody will resume it."""
        self.stop()
        if self._file:
            remove_file(self._file)

    def facts(self) -> dict[str, object]:
        engine_facts: dict[str, object] = {"DuckDB": duckdb.__version__, "durability": "on" if self._durable else "off"}
        if self._file:
            engine_facts |= {"database": str(self._file), "database_bytes": size_of(self._file)}
        return engine_facts

    @property
    def _opened(self) -> Session:
        assert self._session, "install or resume comes first"
        return self._session

    def _open(self) -> Session:
        self._session = Session(open_database(self._file, self._threads))
        return self._session
