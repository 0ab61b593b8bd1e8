"""The engine `sqlite`: System X in a library.  The steps of a cycle are statements in `sql/sqlite`."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np

from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS, Answers, Batch, Share
from polling_baseline.engines.sqlite.database import failures, insert_columns, open_database
from polling_baseline.engines.sqlite.history import Advance, fill_history
from polling_baseline.engines.sqlite.statements import NUMBERS, RING_SECONDS, statements

MINUTE_STEPS = (
    "correct_minute",
    "measure_minute",
    "cut_stops",
    "detect_accidents",
    "set_tolls",
    "warn_segments",
)
RING_STEPS = (
    "advance_vehicles",
    "end_trips",
    "tally_segments",
    "note_movements",
    "look_up_sightings",
)
Progress = Callable[[], AbstractContextManager[Advance]]


class SQLite:
    """One connection; the history comes from these Parquet files."""

    name = "sqlite"
    workers = 1

    def __init__(self, tolls: Sequence[Path], segments: Sequence[Path], progress: Progress | None = None) -> None:
        self._tolls, self._segments = tolls, segments
        self._progress: Progress = progress or (lambda: nullcontext(lambda _: None))
        self._connection = open_database()
        self._answers: list[Answers] = []

    def install(self) -> None:
        with failures(), self._progress() as advance:
            self._run("tables")
            for slot in range(RING_SECONDS):
                self._run("ring", second=slot)
            self._run("history")
            # On empty tables this does nothing but prepare the statements of each table of the ring.
            self._each_second(range(RING_SECONDS), *RING_STEPS)
            self._connection.execute("BEGIN")
            fill_history(self._connection, self._tolls, self._segments, advance)
            self._connection.execute("COMMIT")

    def process(self, batch: Batch) -> Mapping[str, float]:
        seconds, [share] = batch.seconds, batch.shares
        kinds = set(share.requests["kind"].tolist())
        self._answers = []
        steps: dict[str, Callable[[], object]] = {
            "copy": lambda: self._take(share),
            "minute": lambda: self._close_minute(seconds.start),
            "advance": lambda: self._each_second(seconds, "advance_vehicles", "end_trips"),
            "tally": lambda: self._each_second(seconds, "tally_segments"),
            "notify": lambda: self._notify(seconds),
            "balance": lambda: self._answer_balances(seconds, kinds),
            "history": lambda: self._answer_from_history(kinds),
            "commit": lambda: self._connection.execute("COMMIT"),
        }
        times_ms = {}
        with failures():
            for step, do in steps.items():
                started = time.perf_counter()
                do()
                times_ms[f"{step}_ms"] = (time.perf_counter() - started) * 1000
        return times_ms

    def answers(self) -> Iterator[Answers]:
        return iter(self._answers)

    def stop(self) -> None:
        self._connection.close()

    def facts(self) -> dict[str, object]:
        return {"SQLite": sqlite3.sqlite_version}

    def _run(self, name: str, **numbers: int) -> sqlite3.Cursor:
        """Execute the statements of a file; give the cursor of the last one."""
        slot = numbers.get("second", 0) % RING_SECONDS
        for statement in statements(name, slot):
            cursor = self._connection.execute(statement, {**NUMBERS, **numbers})
        return cursor

    def _each_second(self, seconds: range, *names: str) -> None:
        for second in seconds:
            for name in names:
                self._run(name, second=second)

    def _take(self, share: Share) -> None:
        self._connection.execute("BEGIN")
        self._run("clear_cycle")
        insert_columns(self._connection, "lr.position_report", share.reports)
        insert_columns(self._connection, "lr.request", share.requests)

    def _close_minute(self, end: int) -> None:
        """Draw the conclusions from a minute that is over, for the one that begins."""
        if end % spec.MINUTE_S == 0:
            self._run("seek_irregular_vehicles")
            # A stop that reaches into the minute began up to 29 s before it.
            self._each_second(range(end - RING_SECONDS + 1, end), "look_up_sightings")
            for name in MINUTE_STEPS:
                self._run(name, minute=end // spec.MINUTE_S)

    def _notify(self, seconds: range) -> None:
        self._each_second(seconds, "note_movements", "track_trips")
        self._run("note_stops")
        self._answer("toll", "notify_tolls")
        self._answer("accident", "alert_vehicles")

    def _answer_balances(self, seconds: range, kinds: set[int]) -> None:
        if spec.BALANCE in kinds:
            self._run("seek_accounts")
            recent = range(seconds.start - spec.REPORT_PERIOD_S + 1, seconds.stop)
            self._each_second(recent, "look_up_sightings")
            self._answer("balance", "answer_balances")

    def _answer_from_history(self, kinds: set[int]) -> None:
        if spec.EXPENDITURE in kinds:
            self._answer("expenditure", "answer_expenditures")
        if spec.TRAVEL_TIME in kinds:
            self._answer("travel_time", "answer_travel_times")

    def _answer(self, kind: str, name: str) -> None:
        """Fetch the rows that a statement gives, as columns."""
        if rows := self._run(name).fetchall():
            columns = zip(ANSWER_KINDS[kind].types.items(), np.array(rows, np.int64).T, strict=True)
            self._answers.append(Answers(kind, {column: values.astype(type_) for (column, type_), values in columns}))
