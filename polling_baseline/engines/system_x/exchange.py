"""What goes into a schema of a run, and what comes out: reports and requests by COPY, answers as columns."""

from __future__ import annotations

import numpy as np
import psycopg2
from psycopg2.extensions import connection as Connection
from psycopg2.extensions import cursor as Cursor
from psycopg2.sql import SQL, Identifier

from polling_baseline.batch import ANSWER_KINDS, REPORT_COLUMNS, REQUEST_COLUMNS, Answers, Columns, Share
from polling_baseline.database.binary_copy import copy_in, copy_out
from polling_baseline.database.install import LOCK_TIMEOUT_S

# The table of each kind of answer, and its column for the second.
TABLES = {
    "toll": ("toll_notification", "report_second"),
    "accident": ("accident_alert", "report_second"),
    "balance": ("account_balance", "request_second"),
    "expenditure": ("daily_expenditure", "request_second"),
    "travel_time": ("travel_time", "request_second"),
}


def copy_reports(cursor: Cursor, schema: str, reports: Columns) -> None:
    copy_in(cursor, f"{schema}.position_report", _named(reports, REPORT_COLUMNS, "report_second"))


def copy_requests(cursor: Cursor, schema: str, requests: Columns) -> None:
    copy_in(cursor, f"{schema}.request", _named(requests, REQUEST_COLUMNS, "request_second"))


def read_answers(connection: Connection, schema: str) -> list[Answers]:
    """The answers of the cycle that was committed last."""
    answers = []
    with connection.cursor() as cursor:
        for kind, (table, second) in TABLES.items():
            types = ANSWER_KINDS[kind].types
            listed = SQL(", ").join(Identifier(second if name == "second" else name) for name in types)
            columns = copy_out(cursor, SQL("SELECT {} FROM {}").format(listed, Identifier(schema, table)), types)
            if len(columns["second"]):
                answers.append(Answers(kind, columns))
    connection.rollback()
    return answers


def warm_up_share() -> Share:
    """A few tuples of each kind, for a cycle that is undone."""
    reports = {name: np.zeros(2, "i4" if name in ("vehicle_id", "position_ft") else "i2") for name in REPORT_COLUMNS}
    reports["vehicle_id"][1] = 1
    widths = {"vehicle_id": "i4", "query_id": "i8"}
    requests = {name: np.ones(3, widths.get(name, "i2")) for name in REQUEST_COLUMNS}
    requests["kind"][:] = (2, 3, 4)
    return Share(reports, requests)


def reason(error: psycopg2.Error, server: str) -> str:
    """Why a cycle failed, for whoever started the run."""
    if isinstance(error, psycopg2.OperationalError | psycopg2.InterfaceError) and not error.pgcode:
        return f"the connection to {server} was lost: the server stopped, or ended the session"
    if isinstance(error, psycopg2.errors.LockNotAvailable):
        return f"another session has locked a table of this run on {server} for {LOCK_TIMEOUT_S} s"
    return f"PostgreSQL at {server}: {(error.diag.message_primary or str(error)).strip()}"


def _named(columns: Columns, names: tuple[str, ...], second: str) -> Columns:
    """The columns under the table's names."""
    return {second if name == "second" else name: columns[name] for name in names}
