"""System X: PostgreSQL, polled.  Each cycle loads the seconds that have come in and calls one procedure."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import MappingProxyType

from psycopg2.sql import SQL, Identifier

from polling_baseline.batch import Batch
from polling_baseline.database.claim import Claim
from polling_baseline.database.designs import DEFAULT_DESIGN, find_design
from polling_baseline.database.install import schema_of
from polling_baseline.database.settings import Durability
from polling_baseline.engines.system_x.base import SystemX, call, ledger_steps, ms_since
from polling_baseline.engines.system_x.exchange import copy_reports, copy_requests


class Polling(SystemX):
    """The engine `polling`, in one of its designs, with the options of that design."""

    name = "polling"
    _steps = ("copy_ms",)

    def __init__(
        self,
        claim: Claim,
        workers: int,
        durability: Durability,
        design: str = DEFAULT_DESIGN,
        options: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        if workers > 1 and not find_design(design).shares_work:
            raise ValueError(f"{workers} workers: design {design} has one")
        super().__init__(claim, workers, durability, design=design, options=options)

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
