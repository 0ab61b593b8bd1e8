"""System X: PostgreSQL, polled.  Each cycle loads the seconds that have come in and calls one procedure.

Every worker is a System X of its own for the expressways it was given: a connection, and a schema built from the same
files (`lr`, `lr_1`, ...).  What one needs to know of a vehicle that came from another worker's expressway, it reads in
that worker's schema.  Workers start a cycle together, so whatever is 30 s old is committed everywhere.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import psycopg2
from psycopg2.extensions import connection as Connection
from psycopg2.sql import SQL, Identifier

from polling_baseline import spec
from polling_baseline.batch import Answers, Batch
from polling_baseline.database.connection import Target
from polling_baseline.database.cost import database_facts, wal_position
from polling_baseline.database.exchange import copy_reports, copy_requests, read_answers, reason, warm_up_share
from polling_baseline.database.install import install, schema_of
from polling_baseline.engine import EngineFailure

Result = TypeVar("Result")

STEPS = ("minute_ms", "advance_ms", "tally_ms", "notify_ms", "balance_ms", "history_ms")


class Polling:
    """The engine `polling`."""

    name = "polling"

    def __init__(self, target: Target, workers: int, durability: str) -> None:
        self.workers = workers
        self._target = target
        self._durability = durability
        self._connections: list[Connection] = []
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="worker")
        self._wal_start = 0

    def install(self) -> None:
        with contextlib.closing(self._target.connect()) as connection:
            install(connection, durability=self._durability, workers=self.workers)
        self._connections = [self._target.connect() for _ in range(self.workers)]
        # A cycle on a few rows, undone: caches are filled and plans are made before the clock starts.
        nothing = Batch(range(0, 2), tuple(warm_up_share() for _ in range(self.workers)))
        self._each(lambda worker: self._load_and_call(worker, nothing))
        self._each(lambda worker: self._connections[worker].rollback())
        self._wal_start = wal_position(self._connections[0])
        self._connections[0].rollback()

    def process(self, batch: Batch) -> Mapping[str, float]:
        steps = self._each(lambda worker: self._cycle(worker, batch))
        # Workers run side by side: the slowest one is what the cycle took.
        slowest = max(steps, key=lambda step: sum(step.values()))
        if self.workers > 1:
            started = time.perf_counter()
            self._each(lambda worker: self._answer_balances(worker, batch))
            slowest["balance_ms"] += _ms_since(started)
        return slowest

    def answers(self) -> Iterator[Answers]:
        for answers in self._each(self._read):
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
                copy_reports(cursor, schema, share.reports)
            if len(share.requests["second"]):
                copy_requests(cursor, schema, share.requests)
            copy_ms = _ms_since(started)
            cursor.execute(
                SQL("CALL {}.poll(%s, %s)").format(Identifier(schema)), (batch.seconds[0], batch.seconds[-1])
            )
            cursor.execute(
                SQL("SELECT {} FROM {} WHERE from_second = %s").format(
                    SQL(", ").join(map(Identifier, STEPS)), Identifier(schema, "cycle")
                ),
                (batch.seconds[0],),
            )
            [steps] = cursor.fetchall()
        return {"copy_ms": copy_ms, **dict(zip(STEPS, steps, strict=True))}

    def _read(self, worker: int) -> list[Answers]:
        return read_answers(self._connections[worker], schema_of(worker))


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
