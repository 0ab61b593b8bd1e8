"""What the engines on PostgreSQL have in common: workers that do a cycle side by side, and survive a crash.

Every worker is a System X of its own for the expressways it was given: a session, and a schema built from the same
files (`lr`, `lr_1`, ...).  What one needs to know of a vehicle that came from another worker's expressway, it reads in
that worker's schema.  Workers start a cycle together, so whatever is 30 s old is committed everywhere.

Each worker commits a cycle for itself, with a row in its ledger; the answers stay until its next cycle begins.  So
after a crash the ledgers say which workers must still do the last cycle, and its answers can be read once more.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import psycopg2
from psycopg2.extensions import connection as DriverConnection
from psycopg2.extensions import cursor as Cursor
from psycopg2.sql import SQL, Identifier

from polling_baseline import spec
from polling_baseline.batch import Answers, Batch
from polling_baseline.database.claim import Claim
from polling_baseline.database.install import check_installed, install, schema_of
from polling_baseline.database.roles import driver_target, let_owner_read_history
from polling_baseline.database.session import driver, with_safe_path
from polling_baseline.database.settings import Durability
from polling_baseline.engine import EngineFailure
from polling_baseline.engines.system_x.cost import database_facts, wal_position
from polling_baseline.engines.system_x.exchange import read_answers, reason, warm_up_share
from polling_baseline.engines.system_x.sessions import close_sessions, open_sessions

if TYPE_CHECKING:
    from sqlalchemy import Connection

Result = TypeVar("Result")


class SystemX(ABC):
    """An engine but for its name, `_load` and its steps; `layout` is what `install` is told of tables and routines.

    Its database is claimed already; `stop` gives it back.
    """

    # Those that `_load` measures itself; the ledger has the others.
    _steps: tuple[str, ...]

    def __init__(self, claim: Claim, workers: int, durability: Durability, **layout: object) -> None:
        self.workers = workers
        self._claim = claim
        self._target = claim.target
        self._durability = durability
        self._layout = layout
        self._token = ""
        self._wal_start = 0
        self._sessions: list[Connection] = []
        # Those of the driver below the sessions: what a cycle uses.
        self._connections: list[DriverConnection] = []
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="worker")

    @abstractmethod
    def _load(self, worker: int, batch: Batch) -> dict[str, float]:
        """One worker's share of a cycle, short of the commit; give the milliseconds of each step."""

    def _prepare(self) -> None:  # noqa: B027
        """What the connections need once; nothing, unless an engine says otherwise."""

    def install(self) -> None:
        with self._opened() as (connection, roles):
            self._token = secrets.token_hex(16)
            options = {**self._layout, "workers": self.workers, "roles": roles, "token": self._token}
            install(connection, durability=self._durability, **options)  # type: ignore[arg-type]
            self._prepare()
        # A cycle on a few rows, undone: caches are filled and plans are made before the clock starts.
        nothing = Batch(range(0, 2), tuple(warm_up_share() for _ in range(self.workers)))
        self._each(lambda worker: self._load(worker, nothing))
        self._each(lambda worker: self._connections[worker].rollback())
        self._wal_start = wal_position(self._sessions[0])
        self._sessions[0].rollback()

    def resume(self, engine_facts: Mapping[str, object]) -> range | None:
        with self._opened() as (connection, _):
            check_installed(connection, engine_facts, self._target.label)
            self._token, self._wal_start = str(engine_facts["token"]), int(str(engine_facts["wal_start"]))
            self._prepare()
        last = [seconds for seconds in self._each(self._last_cycle) if seconds]
        return max(last, key=lambda seconds: seconds.start, default=None)

    def process(self, batch: Batch) -> Mapping[str, float]:
        return self._process(batch, self._cycle, self._answer_balances)

    def complete(self, batch: Batch) -> Mapping[str, float]:
        def cycle(worker: int, batch: Batch) -> dict[str, float]:
            if self._last_cycle(worker) != batch.seconds:
                return self._cycle(worker, batch)
            with self._connections[worker] as connection, connection.cursor() as cursor:
                return dict.fromkeys((*self._steps, *ledger_steps(cursor, worker, batch.seconds), "commit_ms"), 0.0)

        def answer_balances(worker: int, batch: Batch) -> None:
            if not any(answers.kind == "balance" for answers in self._read(worker)):
                self._answer_balances(worker, batch)

        return self._process(batch, cycle, answer_balances)

    def answers(self) -> Iterator[Answers]:
        for answers in self._each(self._read):
            yield from answers

    def stop(self) -> None:
        self._pool.shutdown()
        close_sessions(self._sessions)
        self._claim.close()

    def facts(self) -> dict[str, object]:
        try:
            return {
                **database_facts(self._sessions, self._durability, self._wal_start),
                "server": self._claim.record(),
                "driver": self._connections[0].info.user,
                "token": self._token,
                "wal_start": self._wal_start,
            }
        except psycopg2.Error as error:
            raise EngineFailure(reason(error, self._target.label)) from error

    @contextlib.contextmanager
    def _opened(self) -> Iterator[tuple[Connection, bool]]:
        """Open the workers' sessions, and for now one that may do more; say whether roles keep them apart."""
        try:
            login = driver_target(self._target)
            self._sessions = open_sessions(self._claim, login or self._target, self.workers, self._durability)
            self._connections = [driver(session) for session in self._sessions]
            with with_safe_path(self._target.open()) as connection:
                if login:
                    let_owner_read_history(connection)
                yield connection, login is not None
        except psycopg2.Error as error:
            raise EngineFailure(reason(error, self._target.label)) from error

    def _each(self, work: Callable[[int], Result]) -> list[Result]:
        """Do it in all workers at once."""
        try:
            return list(self._pool.map(work, range(self.workers)))
        except psycopg2.Error as error:
            raise EngineFailure(reason(error, self._target.label)) from error

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
            slowest["balance_ms"] += ms_since(started)
        return slowest

    def _cycle(self, worker: int, batch: Batch) -> dict[str, float]:
        steps = self._load(worker, batch)
        started = time.perf_counter()
        self._connections[worker].commit()
        return {**steps, "commit_ms": ms_since(started)}

    def _answer_balances(self, worker: int, batch: Batch) -> None:
        """A vehicle may have paid on any worker's expressways, so this waits until all have committed."""
        if (batch.shares[worker].requests["kind"] == spec.BALANCE).any():
            with self._connections[worker].cursor() as cursor:
                call(cursor, worker, "answer_balances", batch.seconds)
            self._connections[worker].commit()

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
        return read_answers(self._connections[worker], schema_of(worker))


def call(cursor: Cursor, worker: int, procedure: str, seconds: range) -> None:
    statement = SQL("CALL {}(%s, %s)").format(Identifier(schema_of(worker), procedure))
    cursor.execute(statement, (seconds[0], seconds[-1]))


def ledger_steps(cursor: Cursor, worker: int, seconds: range) -> dict[str, float]:
    """The milliseconds of each step that the ledger has for the cycle of these seconds, in the order of the steps."""
    cursor.execute(
        SQL("SELECT step || '_ms', ms FROM {} WHERE from_second = %s ORDER BY started_at").format(
            Identifier(schema_of(worker), "cycle_step")
        ),
        (seconds[0],),
    )
    return dict(cursor.fetchall())


def ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
