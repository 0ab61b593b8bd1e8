"""System X: PostgreSQL, polled.  Each cycle loads the seconds that have come in and calls one procedure.

Every worker is a System X of its own for the expressways it was given: a connection, and a schema built from the same
files (`lr`, `lr_1`, ...).  What one needs to know of a vehicle that came from another worker's expressway, it reads in
that worker's schema.  Workers start a cycle together, so whatever is 30 s old is committed everywhere.

Each worker commits a cycle for itself, with a row in its ledger; the answers stay until its next cycle begins.  So
after a crash the ledgers say which workers must still do the last cycle, and its answers can be read once more.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import psycopg2
from psycopg2.extensions import connection as Connection
from psycopg2.sql import SQL, Identifier

from polling_baseline import spec
from polling_baseline.batch import ANSWER_COLUMNS, REPORT_COLUMNS, REQUEST_COLUMNS, Answers, Batch, Columns, Share
from polling_baseline.database.binary_copy import copy_in, copy_out
from polling_baseline.database.connection import Target, with_safe_path
from polling_baseline.database.install import install, installed, schema_of
from polling_baseline.database.roles import driver_target, let_owner_read_history
from polling_baseline.database.sessions import LOCK_TIMEOUT_S, close_sessions, open_sessions
from polling_baseline.database.settings import read_settings
from polling_baseline.engine import EngineFailure
from polling_baseline.refusal import Refusal

# Where each kind of answer stands, and the types of its columns.
TABLES = {
    "toll": ("toll_notification", ("i4", "i2", "i2", "i8")),
    "accident": ("accident_alert", ("i2", "i4", "i2")),
    "balance": ("account_balance", ("i2", "i2", "i8", "i8")),
    "expenditure": ("daily_expenditure", ("i2", "i8", "i8")),
    "travel_time": ("travel_time", ("i2", "i8", "i8", "i8")),
}
Result = TypeVar("Result")

STEPS = ("minute_ms", "advance_ms", "tally_ms", "notify_ms", "balance_ms", "history_ms")


class Polling:
    """The engine `polling`."""

    name = "polling"

    def __init__(self, target: Target, workers: int, durability: str) -> None:
        self.workers = workers
        self._target = target
        self._durability = durability
        self._token = ""
        self._connections: list[Connection] = []
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="worker")

    def install(self) -> None:
        with self._opened() as (connection, roles):
            self._token = secrets.token_hex(16)
            install(connection, durability=self._durability, workers=self.workers, roles=roles, token=self._token)
        # A cycle on a few rows, undone: caches are filled and plans are made before the clock starts.
        nothing = Batch(range(0, 2), tuple(_warm_up_share() for _ in range(self.workers)))
        self._each(lambda worker: self._load_and_call(worker, nothing))
        self._each(lambda worker: self._connections[worker].rollback())

    def resume(self, facts: Mapping[str, object]) -> range | None:
        with self._opened() as (connection, _):
            if installed(connection) != facts["token"]:
                raise Refusal(
                    f"{self._target.label} no longer holds the state of this run: another one was begun there, or its "
                    "data are gone; start again with lrb run --like"
                )
            self._token = str(facts["token"])
        last = [seconds for seconds in self._each(self._last_cycle) if seconds]
        return max(last, key=lambda seconds: seconds.start, default=None)

    def process(self, batch: Batch) -> Mapping[str, float]:
        return self._process(batch, self._cycle, self._answer_balances)

    def complete(self, batch: Batch) -> Mapping[str, float]:
        def cycle(worker: int, batch: Batch) -> dict[str, float]:
            if self._last_cycle(worker) != batch.seconds:
                return self._cycle(worker, batch)
            return {"copy_ms": 0.0, **self._steps(worker, batch), "commit_ms": 0.0}

        def answer_balances(worker: int, batch: Batch) -> None:
            if not any(answers.kind == "balance" for answers in self._read(worker)):
                self._answer_balances(worker, batch)

        return self._process(batch, cycle, answer_balances)

    def answers(self) -> Iterator[Answers]:
        for answers in self._each(self._read):
            yield from answers

    def stop(self) -> None:
        self._pool.shutdown()
        close_sessions(self._connections)

    def facts(self) -> dict[str, object]:
        with contextlib.closing(self._target.connect()) as connection:
            version = connection.info.parameter_status("server_version")
            return {
                "PostgreSQL": version,
                "settings": read_settings(connection),
                "durability": self._durability,
                "driver": self._connections[0].info.user,
                "token": self._token,
            }

    @contextlib.contextmanager
    def _opened(self) -> Iterator[tuple[Connection, bool]]:
        """Open the workers' connections, and for now one that may do more; say whether roles keep them apart."""
        try:
            driver = driver_target(self._target)
            self._connections = open_sessions(driver or self._target, self.workers)
            with contextlib.closing(with_safe_path(self._target.connect())) as connection:
                if driver:
                    let_owner_read_history(connection)
                yield connection, driver is not None
        except psycopg2.Error as error:
            raise EngineFailure(_reason(error, self._target.label)) from error

    def _process(
        self,
        batch: Batch,
        cycle: Callable[[int, Batch], dict[str, float]],
        answer_balances: Callable[[int, Batch], None],
    ) -> dict[str, float]:
        steps = self._each(lambda worker: cycle(worker, batch))
        # Workers run side by side: the slowest one is what the cycle took.
        slowest = max(steps, key=lambda step: sum(step.values()))
        if self.workers > 1:
            started = time.perf_counter()
            self._each(lambda worker: answer_balances(worker, batch))
            slowest["balance_ms"] += _ms_since(started)
        return slowest

    def _each(self, work: Callable[[int], Result]) -> list[Result]:
        """Do it in all workers at once."""
        try:
            return list(self._pool.map(work, range(self.workers)))
        except psycopg2.Error as error:
            raise EngineFailure(_reason(error, self._target.label)) from error

    def _cycle(self, worker: int, batch: Batch) -> dict[str, float]:
        steps = self._load_and_call(worker, batch)
        started = time.perf_counter()
        self._connections[worker].commit()
        return {**steps, "commit_ms": _ms_since(started)}

    def _answer_balances(self, worker: int, batch: Batch) -> None:
        """A vehicle may have paid on any worker's expressways, so this waits until all have committed."""
        if (batch.shares[worker].requests["kind"] == spec.BALANCE).any():
            with self._connections[worker].cursor() as cursor:
                cursor.execute(
                    SQL("CALL {}.answer_balances(%s, %s)").format(Identifier(schema_of(worker))),
                    (batch.seconds[0], batch.seconds[-1]),
                )
            self._connections[worker].commit()

    def _load_and_call(self, worker: int, batch: Batch) -> dict[str, float]:
        schema, share = schema_of(worker), batch.shares[worker]
        with self._connections[worker].cursor() as cursor:
            started = time.perf_counter()
            cursor.execute(SQL("CALL {}.clear_cycle()").format(Identifier(schema)))
            if len(share.reports["second"]):
                copy_in(cursor, f"{schema}.position_report", _named(share.reports, REPORT_COLUMNS, "report_second"))
            if len(share.requests["second"]):
                copy_in(cursor, f"{schema}.request", _named(share.requests, REQUEST_COLUMNS, "request_second"))
            copy_ms = _ms_since(started)
            cursor.execute(
                SQL("CALL {}.poll(%s, %s)").format(Identifier(schema)), (batch.seconds[0], batch.seconds[-1])
            )
        return {"copy_ms": copy_ms, **self._steps(worker, batch)}

    def _steps(self, worker: int, batch: Batch) -> dict[str, float]:
        """What the ledger says of the cycle."""
        with self._connections[worker].cursor() as cursor:
            cursor.execute(
                SQL("SELECT {} FROM {} WHERE from_second = %s").format(
                    SQL(", ").join(map(Identifier, STEPS)), Identifier(schema_of(worker), "cycle")
                ),
                (batch.seconds[0],),
            )
            [steps] = cursor.fetchall()
        return dict(zip(STEPS, steps, strict=True))

    def _last_cycle(self, worker: int) -> range | None:
        with self._connections[worker] as connection, connection.cursor() as cursor:
            cursor.execute(
                SQL("SELECT from_second, until_second + 1 FROM {} ORDER BY from_second DESC LIMIT 1").format(
                    Identifier(schema_of(worker), "cycle")
                )
            )
            row = cursor.fetchone()
        return range(*row) if row else None

    def _read(self, worker: int) -> list[Answers]:
        found = []
        with self._connections[worker].cursor() as cursor:
            for kind, (table, types) in TABLES.items():
                columns = copy_out(
                    cursor,
                    SQL("SELECT * FROM {}").format(Identifier(schema_of(worker), table)),
                    dict(zip(ANSWER_COLUMNS[kind], types, strict=True)),
                )
                if len(columns["second"]):
                    found.append(Answers(kind, columns))
        self._connections[worker].rollback()
        return found


def _named(columns: Columns, names: tuple[str, ...], second: str) -> Columns:
    """The columns under the table's names."""
    return {second if name == "second" else name: columns[name] for name in names}


def _warm_up_share() -> Share:
    reports = {name: np.zeros(2, "i4" if name in ("vehicle_id", "position_ft") else "i2") for name in REPORT_COLUMNS}
    reports["vehicle_id"][1] = 1
    widths = {"vehicle_id": "i4", "query_id": "i8"}
    requests = {name: np.ones(3, widths.get(name, "i2")) for name in REQUEST_COLUMNS}
    requests["kind"][:] = (2, 3, 4)
    return Share(reports, requests)


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _reason(error: psycopg2.Error, server: str) -> str:
    if isinstance(error, psycopg2.OperationalError | psycopg2.InterfaceError) and not error.pgcode:
        return f"the connection to {server} was lost: the server stopped, or ended the session"
    if isinstance(error, psycopg2.errors.LockNotAvailable):
        return f"another session has locked a table of this run on {server} for {LOCK_TIMEOUT_S} s"
    return f"PostgreSQL at {server}: {(error.diag.message_primary or str(error)).strip()}"
