"""System X: PostgreSQL, polled.  Each cycle loads the seconds that have come in and calls one procedure."""

from __future__ import annotations

import time

from psycopg2.sql import SQL, Identifier

from polling_baseline.batch import Batch
from polling_baseline.database.cycled import CycledDatabase, Steps, call, ms_since
from polling_baseline.database.exchange import copy_reports, copy_requests
from polling_baseline.database.install import schema_of


class Polling(CycledDatabase):
    """The engine `polling`."""

    name = "polling"

    def _hand_over(self, worker: int, batch: Batch) -> Steps:
        schema, share = schema_of(worker), batch.shares[worker]
        with self._connections[worker].cursor() as cursor:
            started = time.perf_counter()
            cursor.execute(SQL("CALL {}()").format(Identifier(schema, "clear_cycle")))
            if len(share.reports["second"]):
                copy_reports(cursor, schema, share.reports)
            if len(share.requests["second"]):
                copy_requests(cursor, schema, share.requests)
            copy_ms = ms_since(started)
            call(cursor, schema, "poll", batch.seconds)
        return {"copy_ms": copy_ms, **self._ledger(worker, batch)}

    def _steps(self, worker: int, batch: Batch) -> Steps:
        return {"copy_ms": 0.0, **self._ledger(worker, batch)}
