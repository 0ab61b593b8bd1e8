"""System X by trigger: nobody calls a procedure; the insert of a tuple, or of a second of tuples, sets off the rules.

Three granularities.  `row`: an INSERT per tuple, prepared, and a row trigger; this is the paper's.  `copy`: the same
trigger, but the tuples of a second come in one COPY, which shows what the INSERTs themselves cost.  `statement`: one
COPY and a statement trigger that sees its rows as a transition table, and goes on as the polling engine does.

A row trigger keeps each vehicle in one place and therefore runs on one connection; statement triggers share the
expressways between workers as the polling engine does.  A second of input is one transaction in any case.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import psycopg2
from psycopg2.extensions import connection as Connection
from psycopg2.extensions import cursor as Cursor
from psycopg2.sql import SQL, Identifier

from polling_baseline import spec
from polling_baseline.batch import REPORT_COLUMNS, REQUEST_COLUMNS, Answers, Batch, Columns, Share
from polling_baseline.database.connection import Target
from polling_baseline.database.cost import database_facts, wal_position
from polling_baseline.database.exchange import copy_reports, copy_requests, read_answers, reason, warm_up_share
from polling_baseline.database.install import install, schema_of
from polling_baseline.engine import EngineFailure

STEPS = ("minute_ms", "advance_ms", "tally_ms", "notify_ms", "balance_ms", "history_ms")
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
Result = TypeVar("Result")


class Trigger:
    """The engine `trigger`."""

    name = "trigger"

    def __init__(self, target: Target, workers: int, durability: str, granularity: str = "row") -> None:
        if granularity != "statement" and workers > 1:
            raise ValueError(f"{workers} workers: a row trigger has one")
        self.workers = workers
        self._target = target
        self._durability = durability
        self._granularity = granularity
        self._connections: list[Connection] = []
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="worker")
        self._wal_start = 0

    def install(self) -> None:
        files = "statement" if self._granularity == "statement" else "row"
        with contextlib.closing(self._target.connect()) as connection:
            install(connection, durability=self._durability, workers=self.workers, triggers=files)
        self._connections = [self._target.connect() for _ in range(self.workers)]
        if self._granularity == "row":
            with self._connections[0].cursor() as cursor:
                cursor.execute(PREPARE)
            self._connections[0].commit()
        # A cycle on a few rows, undone: caches are filled and plans are made before the clock starts.
        nothing = Batch(range(0, 2), tuple(warm_up_share() for _ in range(self.workers)))
        self._each(lambda worker: self._insert(worker, nothing))
        self._each(lambda worker: self._connections[worker].rollback())
        self._wal_start = wal_position(self._connections[0])
        self._connections[0].rollback()

    def process(self, batch: Batch) -> Mapping[str, float]:
        steps = self._each(lambda worker: self._cycle(worker, batch))
        slowest = max(steps, key=lambda step: sum(step.values()))
        if self.workers > 1:
            started = time.perf_counter()
            self._each(lambda worker: self._answer_balances(worker, batch))
            slowest["balance_ms"] += _ms_since(started)
        return slowest

    def answers(self) -> Iterator[Answers]:
        for answers in self._each(lambda worker: read_answers(self._connections[worker], schema_of(worker))):
            yield from answers

    def stop(self) -> None:
        self._pool.shutdown()
        for connection in self._connections:
            connection.close()

    def facts(self) -> dict[str, object]:
        try:
            return database_facts(self._connections, self._durability, self._wal_start)
        except psycopg2.Error as error:
            raise EngineFailure(reason(error, self._target.label)) from error

    def _each(self, work: Callable[[int], Result]) -> list[Result]:
        """Do it in all workers at once."""
        try:
            return list(self._pool.map(work, range(self.workers)))
        except psycopg2.Error as error:
            raise EngineFailure(reason(error, self._target.label)) from error

    def _cycle(self, worker: int, batch: Batch) -> dict[str, float]:
        steps = self._insert(worker, batch)
        started = time.perf_counter()
        self._connections[worker].commit()
        return {**steps, "commit_ms": _ms_since(started)}

    def _answer_balances(self, worker: int, batch: Batch) -> None:
        """A vehicle may have paid on any worker's expressways, so this waits until all have committed."""
        if (batch.shares[worker].requests["kind"] == spec.BALANCE).any():
            with self._connections[worker].cursor() as cursor:
                _call(cursor, schema_of(worker), "answer_balances", batch.seconds)
            self._connections[worker].commit()

    def _insert(self, worker: int, batch: Batch) -> dict[str, float]:
        with self._connections[worker].cursor() as cursor:
            started = time.perf_counter()
            _call(cursor, schema_of(worker), "begin_cycle", batch.seconds)
            if self._granularity == "statement":
                return _insert_sets(cursor, schema_of(worker), batch.shares[worker], batch.seconds, started)
            take = (copy_reports, copy_requests) if self._granularity == "copy" else (_insert_reports, _insert_requests)
            report_ms = request_ms = 0.0
            begin_ms = _ms_since(started)
            # In order, so that a balance is that of its second.
            for share in _by_second(batch.shares[worker], batch.seconds):
                started = time.perf_counter()
                if len(share.reports["second"]):
                    take[0](cursor, "lr", share.reports)
                report_ms += _ms_since(started)
                started = time.perf_counter()
                if len(share.requests["second"]):
                    take[1](cursor, "lr", share.requests)
                request_ms += _ms_since(started)
        return {"begin_ms": begin_ms, "report_ms": report_ms, "request_ms": request_ms}


def _insert_sets(cursor: Cursor, schema: str, share: Share, seconds: range, started: float) -> dict[str, float]:
    """All reports, also if there are none, then all requests; the steps are those of the polling engine."""
    copy_reports(cursor, schema, share.reports)
    if len(share.requests["second"]):
        copy_requests(cursor, schema, share.requests)
    all_ms = _ms_since(started)
    cursor.execute(
        SQL("SELECT {} FROM {} WHERE from_second = %s").format(
            SQL(", ").join(map(Identifier, STEPS)), Identifier(schema, "cycle")
        ),
        (seconds[0],),
    )
    [steps] = cursor.fetchall()
    return {"copy_ms": all_ms - sum(steps), **dict(zip(STEPS, steps, strict=True))}


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


def _call(cursor: Cursor, schema: str, procedure: str, seconds: range) -> None:
    cursor.execute(SQL("CALL {}(%s, %s)").format(Identifier(schema, procedure)), (seconds[0], seconds[-1]))


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
