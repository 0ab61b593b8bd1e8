"""What a report costs, by polling and by trigger, at several rates; and what the cost of a row trigger is made of.

Processor time of the server's session and of the client, so that a busy machine does not change the ratios; the log and
the disk play no part in it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from polling_baseline.database.claim import claim_database
from polling_baseline.database.connection import Target
from polling_baseline.database.embedded.server import ensure_running
from polling_baseline.database.settings import OFF
from polling_baseline.engine import Engine
from polling_baseline.engines.system_x.polling import Polling
from polling_baseline.engines.system_x.trigger import Trigger
from tests.bench.polling import empty_history, traffic

RATES = (200, 2000, 10_000)
MADE_OF_RATE = 2000
WARM_UP_S = 31
MEASURED_S = 20
# Nobody's work: what it costs to have a trigger at all.
EMPTY = """
CREATE OR REPLACE FUNCTION lr.take_report() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$
"""


def main() -> None:
    target = ensure_running(OFF).target
    empty_history(target)
    print(f"{'us per report, one worker':<44}" + "".join(f"{rate:>10,}/s" for rate in RATES))
    for name, engine in _engines(target).items():
        print(f"{name:<44}" + "".join(f"{_cost_us(engine(), target, rate):>12.1f}" for rate in RATES), flush=True)
    print(f"\nrow trigger, {MADE_OF_RATE:,} reports in a second, us per report")
    for name, granularity, statement in (
        ("COPY, no trigger", "copy", "DROP TRIGGER take_report ON lr.position_report"),
        ("COPY, a trigger that does nothing", "copy", EMPTY),
        ("COPY, the rules", "copy", None),
        ("INSERT, no trigger", "row", "DROP TRIGGER take_report ON lr.position_report"),
        ("INSERT, a trigger that does nothing", "row", EMPTY),
        ("INSERT, the rules", "row", None),
    ):
        cost = _cost_us(Trigger(claim_database(target, "bench"), 1, OFF, granularity), target, MADE_OF_RATE, statement)
        print(f"  {name:<42}{cost:>12.1f}", flush=True)


def _engines(target: Target) -> dict[str, Callable[[], Engine]]:
    return {
        "polling": lambda: Polling(claim_database(target, "bench"), 1, OFF),
        "trigger: statement": lambda: Trigger(claim_database(target, "bench"), 1, OFF, "statement"),
        "trigger: copy (COPY, row trigger)": lambda: Trigger(claim_database(target, "bench"), 1, OFF, "copy"),
        "trigger: row (INSERT each, row trigger)": lambda: Trigger(claim_database(target, "bench"), 1, OFF, "row"),
    }


def _cost_us(engine: Engine, target: Target, reports: int, statement: str | None = None) -> float:
    """The cost by report, until the commit's return; `statement` changes the schema first."""
    engine.install()
    with closing(target.connect()) as connection, connection, connection.cursor() as cursor:
        if statement:
            cursor.execute(statement)
        cursor.execute(
            "SELECT pid FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name LIKE 'lrb bench%' AND pid <> pg_backend_pid()"
        )
        sessions = [pid for (pid,) in cursor.fetchall()]
    spent = 0.0
    for batch in traffic(reports, 1, WARM_UP_S + MEASURED_S):
        before = _cpu_s(sessions)
        engine.process(batch)
        if batch.seconds[0] >= WARM_UP_S:
            spent += _cpu_s(sessions) - before
    engine.stop()
    return spent / MEASURED_S / reports * 1e6


def _cpu_s(sessions: list[int]) -> float:
    """Of the sessions and of ourselves; Linux tells it in hundredths of a second, which add up over the run."""
    ticks = 0
    for pid in sessions:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK") + time.process_time()


if __name__ == "__main__":
    main()
