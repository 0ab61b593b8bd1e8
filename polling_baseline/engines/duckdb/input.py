"""The input of a cycle, as a table that statements can read."""

from __future__ import annotations

import pyarrow as pa
from duckdb import DuckDBPyConnection

from polling_baseline.batch import Columns

# Threads share out an input by parts of so many rows.
PART_ROWS = 20_480


class Input:
    """A table of this name, with the columns that were put in last.

    DuckDB asks for them anew with each statement, so the name is made known to it only once.
    """

    def __init__(self, connection: DuckDBPyConnection, name: str) -> None:
        self._connection, self._name = connection, name
        self._table: pa.Table | None = None

    def put(self, columns: Columns) -> None:
        first, self._table = self._table is None, pa.table(columns)
        if first:
            self._connection.register(self._name, self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        assert self._table is not None
        return self._table.to_reader(max_chunksize=PART_ROWS).__arrow_c_stream__(requested_schema)
