"""What engine duckdb pays, in CPU time, to look up the history, by the form in which that lies there."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from duckdb import DuckDBPyConnection

from polling_baseline import spec
from polling_baseline.engines.duckdb.database import open_database
from polling_baseline.engines.duckdb.input import Input
from polling_baseline.engines.duckdb.session import PACES, Session
from polling_baseline.engines.duckdb.statements import statement
from tests.bench.duckdb import VEHICLES, history_files, requests_of

REQUESTS = (1, 10, 100)
ROUNDS = 9
# Statement, the table that it reads, and the column by which that is sorted.
LOOK_UPS = {
    "daily expenditure": ("answer_expenditures", spec.EXPENDITURE, "toll_history", "vehicle_id"),
    "travel time": ("answer_travel_times", spec.TRAVEL_TIME, "segment_hour", "block_id"),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        tolls, segments = history_files(Path(folder))
        connection = open_database(None, 1)
        session = Session(connection)
        session.create_tables()
        session.read_history(tolls, segments)
        requests = Input(connection, "request")
        for label, (name, kind, table, key) in LOOK_UPS.items():
            parquet = f"{folder}/{table}.parquet"
            own = f"lr_history.{table}"
            connection.execute(f"COPY (SELECT * FROM {own} ORDER BY hash({key})) TO '{parquet}' (FORMAT parquet)")
            connection.execute(f"COPY (SELECT * FROM {own} ORDER BY {key}) TO '{parquet}.sorted' (FORMAT parquet)")
            connection.execute(f"CREATE TABLE {own}_mixed AS SELECT * FROM {own} ORDER BY hash({key})")
            connection.execute(f"CREATE TABLE {own}_indexed AS SELECT * FROM {own} ORDER BY {key}")
            connection.execute(f"CREATE INDEX look_up_{table} ON {own}_indexed ({key})")
            sources = {
                "Parquet, in no order": f"read_parquet('{parquet}')",
                "Parquet, sorted": f"read_parquet('{parquet}.sorted')",
                "table, in no order": f"{own}_mixed",
                "table, sorted": own,
                "table, sorted, with an index": f"{own}_indexed",
            }
            text = statement(name, {}, {"pace": PACES[0]})
            for source, code in sources.items():
                costs = [
                    _milliseconds(connection, requests, text.replace(own, code), np.full(count, kind))
                    for count in REQUESTS
                ]
                columns = ", ".join(f"{cost:.1f} ms for {count}" for cost, count in zip(costs, REQUESTS, strict=True))
                print(f"{label}, {source}: {columns}", flush=True)
        session.close()


def _milliseconds(connection: DuckDBPyConnection, requests: Input, text: str, kinds: np.ndarray) -> float:
    """The median over some rounds, each with requests of its own."""
    rng = np.random.default_rng(len(kinds))
    seconds = []
    for _ in range(ROUNDS):
        vehicles = rng.integers(0, VEHICLES, len(kinds))
        requests.put(requests_of(rng, kinds, np.zeros_like(kinds), vehicles))
        started = time.process_time()
        connection.execute(text).fetchnumpy()
        seconds.append(time.process_time() - started)
    return float(np.median(seconds)) * 1000


if __name__ == "__main__":
    main()
