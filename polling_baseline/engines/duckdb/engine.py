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
from polling_baseline.engines.duckdb.ring import EMPTY, Ring, table_of
from polling_baseline.engines.duckdb.statements import statement

# Where the answers to requests stand; the others are in the ring.
TABLES = {
    spec.BALANCE: ("balance", "account_balance"),
    spec.EXPENDITURE: ("expenditure", "daily_expenditure"),
    spec.TRAVEL_TIME: ("travel_time", "travel_time"),
}
MINUTE_STEPS = ("correct_minute", "measure_minute", "cut_stops", "detect_accidents", "set_tolls", "settle_trips")
# Journeys are looked up so many hours ahead; if that is too short, further, at last the whole week.
JOURNEY_HOURS = (3, 24, spec.WEEK_DAYS * 24)


class DuckDB:
    """One DuckDB with some threads; the history comes from these Parquet files."""

    name = "duckdb"
    # Threads share the work of a statement: nothing is shared out before.
    workers = 1

    def __init__(self, tolls: Sequence[Path], segments: Sequence[Path], threads: int = 1) -> None:
        self._tolls, self._segments, self._threads = tolls, segments, threads
        self._last = range(0)
        self._ring = Ring([])

    def install(self) -> None:
        self._connection = duckdb.connect(":memory:", config={"threads": self._threads})
        self._connection.execute("SET preserve_insertion_order = false")
        self._connection.execute("CREATE SCHEMA lr")
        self._connection.execute("ATTACH ':memory:' AS lr_history")
        for name in ("rules", "tables", "history_tables"):
            self._run(name)
        for name, files in (("read_toll_history", self._tolls), ("read_segment_history", self._segments)):
            if files:
                self._connection.execute("SET VARIABLE files = $files", {"files": [str(file) for file in files]})
                self._run(name)

    def process(self, batch: Batch) -> Mapping[str, float]:
        started = time.perf_counter()
        steps: dict[str, float] = {}

        def lap(step: str) -> None:
            steps[f"{step}_ms"] = (time.perf_counter() - started) * 1000 - sum(steps.values())

        [share] = batch.shares
        seconds = batch.seconds
        self._connection.begin()
        if seconds.start % spec.MINUTE_S == 0:
            self._close_minute(spec.minute_of(seconds.start) - 1)
        lap("minute")
        self._advance_vehicles(seconds, share)
        lap("advance")
        self._run("tally_segments", now=[table_of(seconds)])
        lap("tally")
        self._run("note_movements", now=[table_of(seconds)])
        lap("movement")
        kinds = self._take_requests(share)
        if spec.BALANCE in kinds:
            self._answer_balances(seconds)
        lap("balance")
        if spec.EXPENDITURE in kinds:
            self._run("answer_expenditures")
        if spec.TRAVEL_TIME in kinds:
            self._answer_travel_times()
        lap("history")
        self._commit(seconds)
        lap("commit")
        return steps

    def answers(self) -> Iterator[Answers]:
        for kind, step in (("toll", "notify_tolls"), ("accident", "alert_vehicles")):
            yield from self._fetch(kind, statement(step, {"now": [table_of(self._last)]}, {}))
        for kind, table in TABLES.values():
            columns = ", ".join(ANSWER_KINDS[kind].columns)
            yield from self._fetch(kind, f"SELECT {columns} FROM lr.{table} WHERE second >= {self._last.start}")

    def stop(self) -> None:
        self._connection.close()

    def facts(self) -> dict[str, object]:
        return {"DuckDB": duckdb.__version__}

    def _run(self, *names: str, numbers: dict[str, int] | None = None, **rings: Sequence[str]) -> None:
        for name in names:
            self._connection.execute(statement(name, rings, numbers or {}))

    def _fetch(self, kind: str, query: str) -> Iterator[Answers]:
        answers = Answers(kind, dict(self._connection.execute(query).fetchnumpy()))
        if len(answers):
            yield answers

    def _advance_vehicles(self, seconds: range, share: Share) -> None:
        self._connection.register("report", pa.table(share.reports))
        before = range(seconds.start - spec.REPORT_PERIOD_S, seconds.stop - spec.REPORT_PERIOD_S)
        numbers = {"from_second": seconds[0], "until_second": seconds[-1]}
        tables = {"now": [table_of(seconds)], "previous": self._ring.tables(before)}
        self._run("advance_vehicles", numbers=numbers, **tables)
        self._ring.add(seconds)

    def _close_minute(self, minute: int) -> None:
        end, numbers = minute * spec.MINUTE_S, {"minute": minute}
        half = self._ring.tables(range(end - spec.REPORT_PERIOD_S, end))
        self._run("note_irregular_vehicles", "note_suspects", numbers=numbers, half_minute=half)
        whole = self._ring.tables(range(end - spec.MINUTE_S, end)) if self._any("lr.suspect") else [EMPTY]
        self._run("look_up_sightings", *MINUTE_STEPS, numbers=numbers, whole_minute=whole)

    def _take_requests(self, share: Share) -> set[int]:
        """Hand over the requests, if there are any, and give their kinds."""
        kinds = set(share.requests["kind"].tolist())
        if kinds:
            self._connection.register("request", pa.table(share.requests))
        return kinds

    def _answer_balances(self, seconds: range) -> None:
        self._run("find_accounts", now=[table_of(seconds)])
        recent = range(seconds.start - spec.REPORT_PERIOD_S + 1, seconds.stop)
        tables = self._ring.tables(recent) if self._any("lr.account WHERE unsure") else [EMPTY]
        self._run("answer_balances", recent=tables)

    def _answer_travel_times(self) -> None:
        self._run("find_journeys")
        for hours in JOURNEY_HOURS:
            self._run("look_up_hours", "drive_journeys", "find_unfinished", numbers={"journey_hours": hours})
            if self._connection.fetchone() is None:
                break
        self._run("answer_travel_times")

    def _commit(self, seconds: range) -> None:
        self._connection.execute(f"INSERT INTO lr.cycle VALUES ({seconds[0]}, {seconds[-1]})")
        for table in self._ring.drop(seconds):
            self._connection.execute(f"DROP TABLE {table}")
        self._connection.commit()
        self._last = seconds

    def _any(self, rows: str) -> bool:
        return self._connection.execute(f"SELECT 1 FROM {rows} LIMIT 1").fetchone() is not None
