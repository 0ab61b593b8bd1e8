"""How fast a history gets into PostgreSQL, beside the server's own COPY of the same rows from a file."""

from __future__ import annotations

import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from driver.dataset.folder import describe, open_dataset
from driver.generate.history import generate_history
from driver.history.load import load_history
from driver.spark.session import session
from polling_baseline.database.claim import claim_database
from polling_baseline.database.connection import Target
from polling_baseline.database.embedded.server import ensure_running

VEHICLES = 150_000
DAYS = 69
SESSIONS = os.cpu_count() or 1
TABLES = {"toll_history": "vehicle_id", "segment_average": "minute"}


def main() -> None:
    spark, target = session(), ensure_running().target
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        counts = generate_history(spark, folder, 42, 1, {0: [(0, VEHICLES)]}, DAYS, lambda amount: None)
        describe(folder, xways=1, seconds=60, seed=42, counts=counts, options={})
        dataset = open_dataset(folder)
        with closing(claim_database(target, "bench")) as claim:
            load_history(spark, dataset, claim, lambda amount: None)  # warm up
            begun_at = time.monotonic()
            loaded = load_history(spark, dataset, claim, lambda amount: None)
            whole_s = time.monotonic() - begun_at
    rows = loaded.tolls + loaded.averages
    server_s = server_side_copy(target)
    print(f"load             {rows / loaded.copy_s:>12,.0f} rows/s arrive, {rows / whole_s:,.0f} with keys and all")
    print(f"                 {sum(counts.values()) / loaded.copy_s:>12,.0f} rows/s of history are read for that")
    print(f"server-side COPY {rows / server_s:>12,.0f} rows/s of the same rows, {SESSIONS} sessions")
    print(f"ratio            {server_s / loaded.copy_s:>12.2f}")


def server_side_copy(target: Target) -> float:
    """Seconds that the server takes to read the loaded rows from its own files, with as many sessions as cores."""
    with tempfile.TemporaryDirectory() as scratch, closing(target.connect()) as connection:
        Path(scratch).chmod(0o777)
        connection.autocommit = True
        cursor = connection.cursor()
        cursor.execute("DROP SCHEMA IF EXISTS lr_bench CASCADE; CREATE SCHEMA lr_bench")
        for table, column in TABLES.items():
            cursor.execute(f"CREATE UNLOGGED TABLE lr_bench.{table} (LIKE lr_history.{table})")
            for part in range(SESSIONS):
                rows = f"SELECT * FROM lr_history.{table} WHERE {column} % {SESSIONS} = {part}"
                cursor.execute(f"COPY ({rows}) TO '{scratch}/{table}-{part}' (FORMAT binary)")

        def copy(part: int) -> None:
            with closing(target.connect()) as other, other, other.cursor() as part_cursor:
                for table in TABLES:
                    part_cursor.execute(f"COPY lr_bench.{table} FROM '{scratch}/{table}-{part}' (FORMAT binary)")

        begun_at = time.monotonic()
        with ThreadPoolExecutor(SESSIONS) as pool:
            list(pool.map(copy, range(SESSIONS)))
        seconds = time.monotonic() - begun_at
        cursor.execute("DROP SCHEMA lr_bench CASCADE")
        return seconds


if __name__ == "__main__":
    main()
