"""The engine `duckdb`: System X in this process.  A cycle is one transaction, and one row in the ledger.

The steps are statements in `sql/duckdb`; what is done here is to hand over columns, to say which tables of the ring a
step reads, and to leave out steps that have nothing to do.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS, Answers, Batch, Share
from polling_baseline.engines.duckdb.ring import EMPTY, NOW, Ring, name_of
from polling_baseline.engines.duckdb.statements import create_numbers, set_variables, statement

TABLES = {
    "toll": "toll_notification",
    "accident": "accident_alert",
    "balance": "account_balance",
    "expenditure": "daily_expenditure",
    "travel_time": "travel_time",
}
MINUTE_STEPS = ("correct_minute", "measure_minute", "cut_stops", "detect_accidents", "set_tolls")
NOTIFY_STEPS = ("notify_tolls", "alert_vehicles", "note_stops", "track_trips")
# Journeys are looked up so many hours ahead; if that is too short, further, at last the whole week.
JOURNEY_HOURS = (3, 24, spec.WEEK_DAYS * 24)


class DuckDB:
    """One DuckDB with some threads; the history comes from these Parquet files."""

    name = "duckdb"
    # Threads share the work of a statement: nothing is shared out before.
    workers = 1

    def __init__(self, tolls: Sequence[Path], segments: Sequence[Path], threads: int = 1) -> None:
        self._tolls, self._segments, self._threads = tolls, segments, threads
        self._last: range | None = None
        self._ring = Ring([])

    def install(self) -> None:
        self._connection = duckdb.connect(":memory:", config={"threads": self._threads})
        self._connection.execute("SET preserve_insertion_order = false")
        self._connection.execute("CREATE SCHEMA lr")
        create_numbers(self._connection)
        self._connection.execute("ATTACH ':memory:' AS lr_history")
        for name in ("rules", "tables", "history_tables"):
            self._run(name)
        for name, files in (("read_toll_history", self._tolls), ("read_segment_history", self._segments)):
            if files:
                set_variables(self._connection, files=[str(file) for file in files])
                self._run(name)

    def process(self, batch: Batch) -> Mapping[str, float]:
        started = time.perf_counter()
        steps: dict[str, float] = {}

        def lap(step: str) -> None:
            steps[f"{step}_ms"] = (time.perf_counter() - started) * 1000 - sum(steps.values())

        [share] = batch.shares
        self._connection.begin()
        self._open_cycle(batch.seconds, share)
        if batch.seconds.start % spec.MINUTE_S == 0:
            self._close_minute(spec.minute_of(batch.seconds.start) - 1)
        lap("minute")
        self._run("advance_vehicles")
        lap("advance")
        self._run("tally_segments")
        lap("tally")
        self._run(*NOTIFY_STEPS)
        lap("notify")
        kinds = set(share.requests["kind"].tolist())
        if spec.BALANCE in kinds:
            self._answer_balances(batch.seconds)
        lap("balance")
        if spec.EXPENDITURE in kinds:
            self._run("answer_expenditures")
        if spec.TRAVEL_TIME in kinds:
            self._answer_travel_times()
        lap("history")
        self._commit(batch.seconds)
        lap("commit")
        return steps

    def answers(self) -> Iterator[Answers]:
        assert self._last is not None
        for kind, table in TABLES.items():
            columns = ", ".join(ANSWER_KINDS[kind].columns)
            found = self._connection.execute(f"SELECT {columns} FROM lr.{table} WHERE second >= {self._last.start}")
            answers = Answers(kind, dict(found.fetchnumpy()))
            if len(answers):
                yield answers

    def stop(self) -> None:
        self._connection.close()

    def facts(self) -> dict[str, object]:
        return {"DuckDB": duckdb.__version__}

    def _run(self, *names: str) -> None:
        for name in names:
            self._connection.execute(statement(name))

    def _open_cycle(self, seconds: range, share: Share) -> None:
        self._connection.register("report", pa.table(share.reports))
        self._connection.register("request", pa.table(share.requests))
        before = range(seconds.start - spec.REPORT_PERIOD_S, seconds.stop - spec.REPORT_PERIOD_S)
        set_variables(
            self._connection,
            from_second=seconds[0],
            until_second=seconds[-1],
            previous=self._ring.tables(before),
        )

    def _close_minute(self, minute: int) -> None:
        end = minute * spec.MINUTE_S
        half = self._ring.tables(range(end - spec.REPORT_PERIOD_S, end))
        set_variables(self._connection, minute=minute, half_minute=half)
        self._run("note_irregular_vehicles", "note_suspects")
        whole = self._ring.tables(range(end - spec.MINUTE_S, end)) if self._any("lr.suspect") else [EMPTY]
        set_variables(self._connection, whole_minute=whole)
        self._run("look_up_sightings", *MINUTE_STEPS)

    def _answer_balances(self, seconds: range) -> None:
        self._run("find_accounts")
        recent = [EMPTY]
        if self._any("lr.account WHERE unsure"):
            recent = [NOW, *self._ring.tables(range(seconds.start - spec.REPORT_PERIOD_S + 1, seconds.start))]
        set_variables(self._connection, recent=recent)
        self._run("answer_balances")

    def _answer_travel_times(self) -> None:
        self._run("find_journeys")
        for hours in JOURNEY_HOURS:
            set_variables(self._connection, journey_hours=hours)
            self._run("look_up_hours", "drive_journeys")
            if not self._any("lr.walk WHERE lr.leaves_hours(segments_left, minute_of_week, travel_minutes)"):
                break
        self._run("answer_travel_times")

    def _commit(self, seconds: range) -> None:
        execute = self._connection.execute
        execute(f"INSERT INTO lr.cycle VALUES ({seconds[0]}, {seconds[-1]})")
        execute(f"ALTER TABLE {NOW} RENAME TO {name_of(seconds).removeprefix('lr.')}")
        for table in self._ring.add(seconds):
            execute(f"DROP TABLE {table}")
        self._connection.commit()
        self._last = seconds

    def _any(self, rows: str) -> bool:
        found = self._connection.execute(f"SELECT EXISTS (FROM {rows})").fetchone()
        return found == (True,)
