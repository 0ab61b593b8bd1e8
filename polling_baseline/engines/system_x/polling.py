"""System X: PostgreSQL, polled.  Each cycle loads the seconds that have come in and calls one procedure."""

from __future__ import annotations

import time

from psycopg2.sql import SQL, Identifier

from polling_baseline.batch import Batch
from polling_baseline.database.install import schema_of
from polling_baseline.engines.system_x.base import SystemX, call, ledger_steps, ms_since
from polling_baseline.engines.system_x.exchange import copy_reports, copy_requests


class Polling(SystemX):
    """The engine `polling`."""

    name = "polling"
    _steps = ("copy_ms",)

    def _load(self, worker: int, batch: Batch) -> dict[str, float]:
        schema, share = schema_of(worker), batch.shares[worker]
        with self._connections[worker].cursor() as cursor:
            started = time.perf_counter()
            cursor.execute(SQL("CALL {}.clear_cycle()").format(Identifier(schema)))
            if len(share.reports["second"]):
                copy_reports(cursor, schema, share.reports)
            if len(share.requests["second"]):
                copy_requests(cursor, schema, share.requests)
            copy_ms = ms_since(started)
            call(cursor, worker, "poll", batch.seconds)
            return {"copy_ms": copy_ms, **ledger_steps(cursor, worker, batch.seconds)}
