"""An open database in which cycles are done.  A cycle is one transaction, and one row in the ledger."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from duckdb import DuckDBPyConnection

from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS, Answers, Batch, Share
from polling_baseline.engines.duckdb.ring import EMPTY, Ring, table_of
from polling_baseline.engines.duckdb.statements import statement

STEPS = ("minute_ms", "advance_ms", "tally_ms", "track_ms", "balance_ms", "history_ms", "commit_ms")
MINUTE_STEPS = ("correct_minute", "measure_minute", "cut_stops", "detect_accidents", "set_tolls")
# The statements that give the answers to reports, from the ring's table of the cycle.
REPORT_ANSWERS = {"toll": "notify_tolls", "accident": "alert_vehicles"}
# The tables of the answers to requests.
REQUEST_ANSWERS = {"balance": "account_balance", "expenditure": "daily_expenditure", "travel_time": "travel_time"}
# Journeys are looked up as far as they come at so many minutes a segment; if one is slower, further, at last the week.
PACES = (3, 15, spec.WEEK_DAYS * spec.DAY_MINUTES)


class Session:
    """The steps of a cycle on one connection."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection
        self._ring = Ring([])
        # The seconds of the cycle that was committed last.
        self.last = range(0)

    def create_tables(self) -> None:
        self._connection.begin()
        self._connection.execute("CREATE SCHEMA lr")
        self._run("rules")
        self._run("tables")
        self._connection.commit()

    def read_ledger(self) -> None:
        """Go on after the last cycle that an earlier session has committed."""
        ledger = "SELECT from_second, until_second + 1 FROM lr.cycle ORDER BY from_second"
        cycles = [range(*row) for row in self._connection.execute(ledger).fetchall()]
        if cycles:
            self.last = cycles[-1]
            self._ring = Ring(cycles)
            self._ring.drop(self.last)

    def read_history(self, tolls: Sequence[Path], segments: Sequence[Path]) -> None:
        self._run("history_tables")
        for name, files in (("read_toll_history", tolls), ("read_segment_history", segments)):
            if files:
                self._connection.execute("SET VARIABLE files = $files", {"files": [str(file) for file in files]})
                self._run(name)

    def process(self, batch: Batch) -> dict[str, float]:
        """Do a cycle, commit it, and give the milliseconds of each step."""
        seconds, [share] = batch.seconds, batch.shares
        kinds = set(share.requests["kind"].tolist())
        started = [time.perf_counter()]
        self._connection.begin()
        for step in (
            lambda: self._close_minute(seconds),
            lambda: self._advance_vehicles(seconds, share),
            lambda: self._run("tally_segments", now=[table_of(seconds)]),
            lambda: self._track(seconds),
            lambda: self._answer_balances(seconds, share, kinds),
            lambda: self._answer_from_history(kinds),
            lambda: self._commit(seconds),
        ):
            step()
            started.append(time.perf_counter())
        return {step: (after - before) * 1000 for step, before, after in zip(STEPS, started, started[1:], strict=False)}

    def answers(self) -> Iterator[Answers]:
        """Those of the last cycle."""
        for kind, name in REPORT_ANSWERS.items():
            yield from self._fetch(kind, statement(name, {"now": [table_of(self.last)]}, {}))
        for kind, table in REQUEST_ANSWERS.items():
            columns = ", ".join(ANSWER_KINDS[kind].columns)
            yield from self._fetch(kind, f"SELECT {columns} FROM lr.{table} WHERE second >= {self.last.start}")

    def close(self) -> None:
        self._connection.close()

    def _run(self, name: str, numbers: dict[str, int] | None = None, **rings: Sequence[str]) -> None:
        self._connection.execute(statement(name, rings, numbers or {}))

    def _any(self, rows: str) -> bool:
        return self._connection.execute(f"SELECT 1 FROM {rows} LIMIT 1").fetchone() is not None

    def _fetch(self, kind: str, query: str) -> Iterator[Answers]:
        answers = Answers(kind, dict(self._connection.execute(query).fetchnumpy()))
        if len(answers):
            yield answers

    def _close_minute(self, seconds: range) -> None:
        """Draw the conclusions from a minute that is over, for the one that begins."""
        end = seconds.start
        if end % spec.MINUTE_S == 0:
            numbers = {"minute": spec.minute_of(end) - 1}
            half = self._ring.tables(range(end - spec.REPORT_PERIOD_S, end))
            self._run("note_irregular_vehicles", numbers, half_minute=half)
            self._run("note_suspects", numbers)
            whole = self._ring.tables(range(end - spec.MINUTE_S, end)) if self._any("lr.suspect") else [EMPTY]
            self._run("look_up_sightings", numbers, whole_minute=whole)
            for name in MINUTE_STEPS:
                self._run(name, numbers)

    def _advance_vehicles(self, seconds: range, share: Share) -> None:
        self._connection.register("report", pa.table(share.reports))
        before = range(seconds.start - spec.REPORT_PERIOD_S, seconds.stop - spec.REPORT_PERIOD_S)
        numbers = {"from_second": seconds[0], "until_second": seconds[-1]}
        self._run("advance_vehicles", numbers, now=[table_of(seconds)], previous=self._ring.tables(before))
        self._ring.add(seconds)

    def _track(self, seconds: range) -> None:
        for name in ("note_stops", "track_trips"):
            self._run(name, now=[table_of(seconds)])

    def _answer_balances(self, seconds: range, share: Share, kinds: set[int]) -> None:
        if kinds:
            self._connection.register("request", pa.table(share.requests))
        if spec.BALANCE in kinds:
            self._run("answer_balances", now=[table_of(seconds)])
            if self._any("lr.account_balance WHERE unsure"):
                recent = range(seconds.start - spec.REPORT_PERIOD_S + 1, seconds.stop)
                self._run("search_trips", recent=self._ring.tables(recent))

    def _answer_from_history(self, kinds: set[int]) -> None:
        if spec.EXPENDITURE in kinds:
            self._run("answer_expenditures")
        if spec.TRAVEL_TIME in kinds:
            self._run("find_journeys")
            for pace in PACES:
                numbers = {"pace": pace}
                self._run("look_up_hours", numbers)
                self._run("drive_journeys")
                self._run("find_unfinished", numbers)
                if self._connection.fetchone() is None:
                    break
            self._run("answer_travel_times")

    def _commit(self, seconds: range) -> None:
        self._connection.execute(f"INSERT INTO lr.cycle VALUES ({seconds[0]}, {seconds[-1]})")
        for table in self._ring.drop(seconds):
            self._connection.execute(f"DROP TABLE {table}")
        self._connection.commit()
        self.last = seconds
