"""System X by trigger: nobody calls a procedure; the insert of a tuple, or of a second of tuples, sets off the rules.

Three granularities.  `row`: an INSERT per tuple, prepared, and a row trigger; this is the paper's.  `copy`: the same
trigger, but the tuples of a second come in one COPY, which shows what the INSERTs themselves cost.  `statement`: one
COPY and a statement trigger that sees its rows as a transition table, and goes on as the polling engine does.

A row trigger keeps each vehicle in one place and therefore runs on one connection; statement triggers share the
expressways between workers as the polling engine does.  A second of input is one transaction in any case.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from psycopg2.extensions import cursor as Cursor

from polling_baseline.batch import REPORT_COLUMNS, REQUEST_COLUMNS, Batch, Columns, Share
from polling_baseline.database.claim import Claim
from polling_baseline.database.install import schema_of
from polling_baseline.database.settings import Durability
from polling_baseline.engines.system_x.base import SystemX, call, ledger_steps, ms_since
from polling_baseline.engines.system_x.exchange import copy_reports, copy_requests

# INSERTs that travel together, so that a round trip each does not count against the trigger.
PAGE = 256
PREPARE = (
    "PREPARE insert_report AS INSERT INTO lr.position_report"
    " (report_second, vehicle_id, speed_mph, xway, lane, dir, seg, position_ft)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8);"
    "PREPARE insert_request AS INSERT INTO lr.request"
    " (kind, request_second, vehicle_id, xway, query_id, from_seg, to_seg, day_of_week, minute_of_day, day)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
)


class Trigger(SystemX):
    """The engine `trigger`."""

    name = "trigger"

    def __init__(self, claim: Claim, workers: int, durability: Durability, granularity: str = "row") -> None:
        if granularity != "statement" and workers > 1:
            raise ValueError(f"{workers} workers: a row trigger has one")
        super().__init__(claim, workers, durability, triggers="statement" if granularity == "statement" else "row")
        self._granularity = granularity
        self._steps = ("copy_ms",) if granularity == "statement" else ("begin_ms", "report_ms", "request_ms")

    def _prepare(self) -> None:
        if self._granularity == "row":
            with self._connections[0] as connection, connection.cursor() as cursor:
                cursor.execute(PREPARE)

    def _load(self, worker: int, batch: Batch) -> dict[str, float]:
        with self._connections[worker].cursor() as cursor:
            started = time.perf_counter()
            call(cursor, worker, "begin_cycle", batch.seconds)
            if self._granularity == "statement":
                return _insert_sets(cursor, worker, batch, started)
            take = (copy_reports, copy_requests) if self._granularity == "copy" else (_insert_reports, _insert_requests)
            report_ms = request_ms = 0.0
            begin_ms = ms_since(started)
            # In order, so that a balance is that of its second.
            for share in _by_second(batch.shares[worker], batch.seconds):
                started = time.perf_counter()
                if len(share.reports["second"]):
                    take[0](cursor, "lr", share.reports)
                report_ms += ms_since(started)
                started = time.perf_counter()
                if len(share.requests["second"]):
                    take[1](cursor, "lr", share.requests)
                request_ms += ms_since(started)
        return {"begin_ms": begin_ms, "report_ms": report_ms, "request_ms": request_ms}


def _insert_sets(cursor: Cursor, worker: int, batch: Batch, started: float) -> dict[str, float]:
    """The requests, then all reports, whose trigger answers both; the steps are those of the polling engine."""
    schema, share = schema_of(worker), batch.shares[worker]
    if len(share.requests["second"]):
        copy_requests(cursor, schema, share.requests)
    # Also if there are none: trips may end.
    copy_reports(cursor, schema, share.reports)
    all_ms = ms_since(started)
    steps = ledger_steps(cursor, worker, batch.seconds)
    return {"copy_ms": all_ms - sum(steps.values()), **steps}


def _insert_reports(cursor: Cursor, _schema: str, reports: Columns) -> None:
    _insert_each(cursor, "insert_report", [reports[name] for name in REPORT_COLUMNS])


def _insert_requests(cursor: Cursor, _schema: str, requests: Columns) -> None:
    _insert_each(cursor, "insert_request", [requests[name] for name in REQUEST_COLUMNS])


def _insert_each(cursor: Cursor, prepared: str, columns: list[npt.NDArray[Any]]) -> None:
    """One statement per row, in pages; the values are numbers and need no quoting."""
    rows = np.column_stack(columns)
    statement = f"EXECUTE {prepared}({', '.join(['%d'] * len(columns))});"
    for start in range(0, len(rows), PAGE):
        page = rows[start : start + PAGE]
        cursor.execute((statement * len(page)) % tuple(page.ravel().tolist()))


def _by_second(share: Share, seconds: range) -> Iterator[Share]:
    edges = [*seconds, seconds.stop]
    reports, requests = (np.searchsorted(columns["second"], edges) for columns in (share.reports, share.requests))
    for place in range(len(seconds)):
        yield Share(
            {name: column[reports[place] : reports[place + 1]] for name, column in share.reports.items()},
            {name: column[requests[place] : requests[place + 1]] for name, column in share.requests.items()},
        )
