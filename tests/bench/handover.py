"""What it costs to hand a second of reports to PostgreSQL, by four ways a driver could be written.

Only the way of the rows into a table is measured, commit included: no rule runs.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from contextlib import closing

import numpy as np
from psycopg2.extensions import connection as Connection

from polling_baseline.batch import Columns
from polling_baseline.database.binary_copy import copy_in
from polling_baseline.database.embedded.server import ensure_running
from polling_baseline.database.settings import OFF
from tests.bench.polling import traffic

RATES = (500, 1000, 2000, 4000)
READINGS = 15
TABLE = "pg_temp.handover"
INSERT = f"INSERT INTO {TABLE} VALUES ({', '.join(['%s'] * 8)})"


def main() -> None:
    ways: dict[str, Callable[[Connection, Columns], None]] = {
        "columns, binary COPY": _columns,
        "row by row, text COPY": _lines,
        "a statement per row": _statements,
        "a transaction per row": _transactions,
    }
    print(f"ms to hand over a second of reports, median of {READINGS}; durability off")
    print(f"{'way':<24}" + "".join(f"{f'{rate:,}/s':>10}" for rate in RATES))
    with closing(ensure_running(OFF).target.connect()) as connection:
        for name, hand_over in ways.items():
            print(
                f"{name:<24}" + "".join(f"{_measure(connection, hand_over, rate):>10.1f}" for rate in RATES), flush=True
            )


def _measure(connection: Connection, hand_over: Callable[[Connection, Columns], None], rate: int) -> float:
    reports = next(traffic(rate, 1, 1)).shares[0].reports
    columns = ", ".join(
        f"{name} {'integer' if values.dtype.itemsize == 4 else 'smallint'}" for name, values in reports.items()
    )
    times = []
    for _ in range(READINGS):
        with connection, connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {TABLE}; CREATE TEMPORARY TABLE handover ({columns})")
        started = time.perf_counter()
        hand_over(connection, reports)
        times.append(1000 * (time.perf_counter() - started))
    return float(np.median(times))


def _columns(connection: Connection, reports: Columns) -> None:
    with connection, connection.cursor() as cursor:
        copy_in(cursor, TABLE, reports)


def _lines(connection: Connection, reports: Columns) -> None:
    lines = io.StringIO()
    for row in _rows(reports):
        lines.write("\t".join(map(str, row)) + "\n")
    lines.seek(0)
    with connection, connection.cursor() as cursor:
        cursor.copy_expert(f"COPY {TABLE} FROM STDIN", lines)


def _statements(connection: Connection, reports: Columns) -> None:
    with connection, connection.cursor() as cursor:
        for row in _rows(reports):
            cursor.execute(INSERT, row)


def _transactions(connection: Connection, reports: Columns) -> None:
    for row in _rows(reports):
        with connection, connection.cursor() as cursor:
            cursor.execute(INSERT, row)


def _rows(reports: Columns) -> list[tuple[int, ...]]:
    return list(zip(*(values.tolist() for values in reports.values()), strict=True))
